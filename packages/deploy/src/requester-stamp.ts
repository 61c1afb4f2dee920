import { ApiObject } from "cdk8s";
import { Construct } from "constructs";
import { controllerLabels } from "./labels.ts";
import { REQUESTED_BY, transactionWrites } from "./requester.ts";

const name = "janus-requester";

/** The current user on create, the former value on update. A Transaction that is older than this policy never gets the annotation. */
const requester = `oldObject == null ? request.userInfo.username : oldObject.metadata.annotations['${REQUESTED_BY}']`;
const isKnown = `oldObject == null || '${REQUESTED_BY}' in oldObject.metadata.?annotations.orValue({})`;

/**
 * Sets the annotation `backup.janus.io/requested-by` of a Transaction to the user who creates it, and keeps it. With the
 * {@link RequesterPolicy} no user can set another value.
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
        // It runs again if another admission plugin has changed the Transaction, so that its value is the final one.
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
