// The admission policy that checks the annotations that name users.
import { POLICIES } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { controllerLabels } from "./labels.ts";
import { type Stamp, stamps, stampVariables } from "./stamps.ts";
import { annotation, annotationBefore } from "./transaction-cel.ts";
import { transactionWrites } from "./transaction-writes.ts";

const policyName = POLICIES.stamps;

const isTrue = ({ name, says, isSet }: Stamp): k8s.Validation => ({
  expression:
    `${isSet} ? ${annotation(name)}.orValue(request.userInfo.username) == request.userInfo.username : ` +
    `${annotation(name)} == ${annotationBefore(name)}`,
  reason: "Forbidden",
  messageExpression:
    `'the annotation ${name} says ${says}: ' + (${isSet} ? 'that is you now: set it to "' + ` +
    `request.userInfo.username + '", or remove it' : 'leave it as it is')`,
});

/**
 * The annotations of a Transaction that name users name those who did it, or are absent: what a client writes is compared.
 *
 * Guarantees: no user can write another user's name, nor change or remove a name without the request that it records. Writes that do
 *             none of this, such as those of the controller and the garbage collector, are admitted.
 * Assumes:    no user can remove the policy or its binding.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class StampsPolicy extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const metadata = { name: policyName, labels: controllerLabels };
    new k8s.KubeValidatingAdmissionPolicy(this, "Policy", {
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: transactionWrites(),
        variables: stampVariables,
        validations: stamps.map(isTrue),
      },
    });
    denyByPolicy(this, metadata);
  }
}
