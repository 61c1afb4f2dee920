// The admission policy that requires the verb impersonate on the ServiceAccount of a Transaction.
import { POLICIES } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { controllerLabels } from "./labels.ts";
import { isEdited } from "./transaction-cel.ts";
import { transactionWrites } from "./transaction-writes.ts";

const name = POLICIES.requester;

/** The ServiceAccount itself, such as that of an ActionSet. */
const isItself =
  "request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':' + object.spec.serviceAccountName";

const mayImpersonate =
  "authorizer.group('').resource('serviceaccounts').namespace(request.namespace)" +
  ".name(object.spec.serviceAccountName).check('impersonate').allowed()";

/**
 * A Transaction may only be written by who may impersonate the ServiceAccount that it names; otherwise every user who may write
 * Transactions would have the permissions of every ServiceAccount of the namespace.
 *
 * Guarantees: no user without permission to `impersonate` a ServiceAccount (which the built-in role `edit` includes, for its
 *             namespace) can create a Transaction that names it, or edit the spec of a Draft that names it, but for that
 *             ServiceAccount itself. A move of the lifecycle and writes of metadata are no edits: they are admitted from every user,
 *             such as an approver, the controller and the garbage collector.
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
        matchConstraints: transactionWrites(),
        variables: [isEdited],
        validations: [
          {
            expression: `!variables.isEdited || ${isItself} || ${mayImpersonate}`,
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" cannot impersonate ServiceAccount "' + object.spec.serviceAccountName + ` +
              `'" in namespace "' + request.namespace + '": name a ServiceAccount that you may impersonate, or ask for the ` +
              "permission to impersonate this one (verb impersonate on serviceaccounts, as in the role edit)'",
          },
        ],
      },
    });
    denyByPolicy(this, metadata);
  }
}
