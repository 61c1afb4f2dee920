import { APPROVAL_LABEL, GROUP, LAST_EDITED_BY, PLURAL, REQUESTED_BY } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { controllerLabels } from "./labels.ts";
import { annotationBefore, writeVariables } from "./transaction-cel.ts";
import { transactionWrites } from "./transaction-writes.ts";

const name = "janus-approval";

/** The name that a generated one has become is in the object alone. */
const mayApprove =
  `authorizer.group('${GROUP}').resource('${PLURAL}').namespace(request.namespace).name(object.metadata.name)` +
  ".check('approve').allowed()";

/** Who did what must be somebody else than who publishes: from the object as it was, so that nobody can change it along the way. */
const others = [
  { annotation: REQUESTED_BY, did: "created" },
  { annotation: LAST_EDITED_BY, did: "edited" },
] as const;

const where = `'namespace "' + request.namespace + '" requires approval (label ${APPROVAL_LABEL}`;
const whereFourEyes = `${where}=four-eyes)`;
const approver = "(verb approve on transactions.backup.janus.io)";

/**
 * In namespaces with the label `backup.janus.io/approval`, a Transaction is published only by who has the verb `approve` on it, and
 * with the value `four-eyes` by somebody else than who created it and who edited it last. Any other value means `required`.
 *
 * Guarantees: no user without the verb `approve` on a Transaction of such a namespace can publish it, by its creation or by a move,
 *             or ask to take back what it has committed. With `four-eyes` nobody publishes what they have created or edited last,
 *             nor what nobody is known to have created and edited; and who publishes changes nothing else of spec.
 * Assumes:    no user can remove the policy or its binding, or the label of the namespace; the {@link StampsPolicy} is in force.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class ApprovalPolicy extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const metadata = { name, labels: controllerLabels };
    new k8s.KubeValidatingAdmissionPolicy(this, "Policy", {
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: transactionWrites(APPROVAL_LABEL),
        variables: [
          ...writeVariables,
          { name: "mayApprove", expression: mayApprove },
          {
            name: "publishesOfFourEyes",
            expression: `variables.isPublished && namespaceObject.metadata.labels['${APPROVAL_LABEL}'] == 'four-eyes'`,
          },
        ],
        validations: [
          {
            expression: "!variables.isPublished || variables.mayApprove",
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" cannot publish this Transaction: ' + ${where}): ' + ` +
              "(oldObject == null ? 'create it with spec.lifecycle Draft or Proposed' : " +
              "variables.lifecycleBefore == 'Proposed' ? 'leave it Proposed' : 'set spec.lifecycle to Proposed') + " +
              `', and ask somebody who may approve it ${approver}'`,
          },
          {
            expression: "!variables.publishesOfFourEyes || oldObject != null",
            reason: "Forbidden",
            messageExpression:
              `'nobody creates a Transaction as Published here: ' + ${whereFourEyes}: ` +
              "create it with spec.lifecycle Draft or Proposed, and ask somebody else to publish it'",
          },
          ...others.map(({ annotation, did }) => ({
            expression: `!variables.publishesOfFourEyes || oldObject == null || ${annotationBefore(annotation)}.hasValue()`,
            reason: "Forbidden",
            messageExpression:
              `'nobody is known to have ${did} this Transaction (annotation ${annotation}), so nobody can publish it: ' + ` +
              `${whereFourEyes}: create it again, with the annotations ${REQUESTED_BY} and ${LAST_EDITED_BY}'`,
          })),
          ...others.map(({ annotation, did }) => ({
            expression:
              "!variables.publishesOfFourEyes || oldObject == null || " +
              `${annotationBefore(annotation)}.orValue('') != request.userInfo.username`,
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" has ${did} this Transaction (annotation ${annotation}): ' + ` +
              `${whereFourEyes}: ask somebody else to publish it ${approver}'`,
          })),
          {
            expression: "!variables.publishesOfFourEyes || oldObject == null || !variables.isEdited",
            reason: "Forbidden",
            messageExpression:
              `'spec cannot be edited and published at once: ' + ${whereFourEyes}: edit it first, and ask somebody else ` +
              "to publish it'",
          },
          {
            expression:
              "!variables.asksRollback || oldObject == null || oldObject.?status.?phase.orValue('') != 'Committed' || " +
              "variables.mayApprove",
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" cannot take back what this Transaction has committed: ' + ${where}): ' + ` +
              `'ask somebody who may approve it ${approver} to request the rollback'`,
          },
        ],
      },
    });
    denyByPolicy(this, metadata);
  }
}
