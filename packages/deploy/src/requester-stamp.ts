import { ApiObject } from "cdk8s";
import { Construct } from "constructs";
import { controllerLabels } from "./labels.ts";
import { REQUESTED_BY, transactionWrites } from "./requester.ts";

const name = "janus-requester";

/** Who it is now, or who it was. A Transaction that is older than this policy has no stamp, and gets none. */
const requester = `oldObject == null ? request.userInfo.username : oldObject.metadata.annotations['${REQUESTED_BY}']`;
const isKnown = `oldObject == null || '${REQUESTED_BY}' in oldObject.metadata.?annotations.orValue({})`;

/**
 * Writes the name of the user who creates a Transaction into its annotation `backup.janus.io/requested-by`, and keeps it there. With
 * the {@link RequesterPolicy} nobody can write another one.
 *
 * Assumes: a cluster that serves MutatingAdmissionPolicy in admissionregistration.k8s.io/v1, which is Kubernetes 1.36 or newer.
 * Source:  https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
 */
export class RequesterStamp extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const common = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name, labels: controllerLabels } };
    new ApiObject(this, "Policy", {
      ...common,
      kind: "MutatingAdmissionPolicy",
      spec: {
        failurePolicy: "Fail",
        // Once more when another client has changed the Transaction meanwhile: this has the last word.
        reinvocationPolicy: "IfNeeded",
        matchConstraints: transactionWrites,
        matchConditions: [{ name: "requester-is-known", expression: isKnown }],
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: {
              expression: `Object{metadata: Object.metadata{annotations: {'${REQUESTED_BY}': ${requester}}}}`,
            },
          },
        ],
      },
    });
    new ApiObject(this, "Binding", {
      ...common,
      kind: "MutatingAdmissionPolicyBinding",
      spec: { policyName: name },
    });
  }
}
