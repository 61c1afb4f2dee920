// The mutating admission policy that writes the names of users into annotations of a Transaction.
import { POLICIES } from "@janus/api";
import { ApiObject } from "cdk8s";
import { Construct } from "constructs";
import { controllerLabels } from "./labels.ts";
import { type Stamp, stamps, stampVariables } from "./stamps.ts";
import { transactionWrites } from "./transaction-writes.ts";

const policyName = POLICIES.stamps;

/**
 * The current user where it is set anew, otherwise what it was; absent if it was. (An optional of what is not said to be one,
 * as `[?…]` of a variable, makes Kubernetes 1.36 panic here.)
 */
const entry = ({ name, isSet }: Stamp): string =>
  `?'${name}': ${isSet} ? optional.of(request.userInfo.username) : ` +
  `'${name}' in variables.annotationsBefore ? optional.of(variables.annotationsBefore['${name}']) : optional.none()`;

/**
 * A write that leaves spec and annotations as they are does nothing that is stamped: finalizers, owner references and labels of
 * the controller and the garbage collector are written also where the API server cannot mutate Transactions yet.
 */
const mayStamp =
  "oldObject == null || dyn(object).?spec != dyn(oldObject).?spec || " +
  "object.metadata.?annotations != oldObject.metadata.?annotations";

/**
 * Writes into annotations of a Transaction which users created it, edited it, moved its lifecycle, published it, and requested its
 * rollback, whatever the client says, and keeps them. With the {@link StampsPolicy} no user can set another value.
 *
 * A Transaction that is older than this policy gets only those of what is done to it from now on.
 *
 * For the first seconds after the CRD was created or the API server was started, the latter has no schema of Transactions and
 * answers what would be mutated with 503, "Resource kind ... not found. There can be a delay": it looks for new ones every 5 s.
 *
 * Assumes: a cluster that serves MutatingAdmissionPolicy in admissionregistration.k8s.io/v1, which is Kubernetes 1.36 or newer.
 * Source:  https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
 */
export class UserStamps extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const common = {
      apiVersion: "admissionregistration.k8s.io/v1",
      metadata: { name: policyName, labels: controllerLabels },
    };
    new ApiObject(this, "Policy", {
      ...common,
      kind: "MutatingAdmissionPolicy",
      spec: {
        failurePolicy: "Fail",
        // It runs again if another admission plugin has changed the Transaction, so that its value is the final one.
        reinvocationPolicy: "IfNeeded",
        matchConstraints: transactionWrites(),
        matchConditions: [{ name: "spec-or-annotations", expression: mayStamp }],
        variables: [...stampVariables, { name: "stamps", expression: `{${stamps.map(entry).join(", ")}}` }],
        mutations: [
          {
            patchType: "JSONPatch",
            jsonPatch: {
              // Empty for an old Transaction to which nothing of this is done: it is left alone.
              expression:
                "(variables.stamps.size() == 0 || has(object.metadata.annotations) ? [] : " +
                "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}]) + variables.stamps.map(name, " +
                "JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey(name), value: variables.stamps[name]})",
            },
          },
        ],
      },
    });
    new ApiObject(this, "Binding", {
      ...common,
      kind: "MutatingAdmissionPolicyBinding",
      spec: { policyName },
    });
  }
}
