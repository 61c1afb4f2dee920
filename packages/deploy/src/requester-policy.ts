import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerLabels } from "./labels.ts";
import { REQUESTED_BY, transactionWrites } from "./requester.ts";

const name = "janus-requester";

const mayImpersonate =
  "authorizer.group('').resource('serviceaccounts').namespace(request.namespace)" +
  ".name(object.spec.serviceAccountName).check('impersonate').allowed()";

const isSameAccount = "oldObject != null && object.spec.serviceAccountName == oldObject.spec.serviceAccountName";

const requestedBy = (object: string): string => `${object}.metadata.?annotations[?'${REQUESTED_BY}']`;

/**
 * A Transaction may only name a ServiceAccount that its author may impersonate; otherwise every user who may create Transactions
 * would have the permissions of every ServiceAccount of the namespace.
 *
 * Guarantees: no user without permission to `impersonate` a ServiceAccount (which the built-in role `edit` includes, for its
 *             namespace) can create a Transaction that names it, or change one to name it. Edits that keep the ServiceAccount are
 *             admitted from every user, such as the controller and the garbage collector. The annotation of the requester names
 *             the author, or is absent, and never changes.
 * Assumes:    no user can remove the policy or its binding.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class RequesterPolicy extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const metadata = { name, labels: controllerLabels };
    new k8s.KubeValidatingAdmissionPolicy(this, "Policy", {
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: transactionWrites,
        validations: [
          {
            expression: `${isSameAccount} || ${mayImpersonate}`,
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" cannot impersonate ServiceAccount "' + object.spec.serviceAccountName + ` +
              `'" in namespace "' + request.namespace + '": name a ServiceAccount that you may impersonate, or ask for the ` +
              "permission to impersonate this one (verb impersonate on serviceaccounts, as in the role edit)'",
          },
          {
            expression:
              `oldObject == null ? ${requestedBy("object")}.orValue(request.userInfo.username) == request.userInfo.username : ` +
              `${requestedBy("object")} == ${requestedBy("oldObject")}`,
            reason: "Forbidden",
            message: `the annotation ${REQUESTED_BY} says who created the Transaction: leave it as it is`,
          },
        ],
      },
    });
    new k8s.KubeValidatingAdmissionPolicyBinding(this, "Binding", {
      metadata,
      spec: { policyName: name, validationActions: ["Deny"] },
    });
  }
}
