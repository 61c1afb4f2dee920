// The admission policy that lets only approvers publish in namespaces with the approval label.
import { APPROVAL_LABEL, CRD_NAME, GROUP, LAST_EDITED_BY, PLURAL, POLICIES, REQUESTED_BY } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { controllerLabels } from "./labels.ts";
import { annotationBefore, writeVariables } from "./transaction-cel.ts";
import { transactionWrites } from "./transaction-writes.ts";

const name = POLICIES.approval;

/** With generateName, only the object has the name. */
const mayApprove =
  `authorizer.group('${GROUP}').resource('${PLURAL}').namespace(request.namespace).name(object.metadata.name)` +
  ".check('approve').allowed()";

/** The users who did this must not publish. Read from the object as it was, so that the same request cannot change it. */
const others = [
  { annotation: REQUESTED_BY, did: "created" },
  { annotation: LAST_EDITED_BY, did: "edited" },
] as const;

const where = `'namespace "' + request.namespace + '" requires approval (label ${APPROVAL_LABEL}`;
const whereFourEyes = `${where}=four-eyes)`;
const approver = `(verb approve on ${CRD_NAME})`;

/**
 * In namespaces with the label `backup.janus.io/approval`, only a user with the verb `approve` on a Transaction can publish it, and
 * with the value `four-eyes` only a user who neither created it nor edited it last. Any other value means `required`.
 *
 * Guarantees: no user without the verb `approve` on a Transaction of such a namespace can publish it, by its creation or by a move,
 *             or request its rollback once it is Committed. With `four-eyes`, no user publishes what they have created or edited
 *             last, nor a Transaction without the annotations that say who did; and publishing changes nothing else of spec.
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
              `', and ask an approver ${approver} to publish it'`,
          },
          {
            expression: "!variables.publishesOfFourEyes || oldObject != null",
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" cannot create a Published Transaction: ' + ${whereFourEyes}: ` +
              "create it with spec.lifecycle Draft or Proposed, and ask another user to publish it'",
          },
          ...others.map(({ annotation, did }) => ({
            expression: `!variables.publishesOfFourEyes || oldObject == null || ${annotationBefore(annotation)}.hasValue()`,
            reason: "Forbidden",
            messageExpression:
              `'this Transaction cannot be published: it has no annotation ${annotation}, so it is unknown who ${did} it: ' + ` +
              `${whereFourEyes}: create it again, with the annotations ${REQUESTED_BY} and ${LAST_EDITED_BY}'`,
          })),
          ...others.map(({ annotation, did }) => ({
            expression:
              "!variables.publishesOfFourEyes || oldObject == null || " +
              `${annotationBefore(annotation)}.orValue('') != request.userInfo.username`,
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" ${did} this Transaction (annotation ${annotation}) and cannot publish it: ' + ` +
              `${whereFourEyes}: ask another approver ${approver} to publish it'`,
          })),
          {
            expression: "!variables.publishesOfFourEyes || oldObject == null || !variables.isEdited",
            reason: "Forbidden",
            messageExpression:
              `'spec cannot be edited and published in one request: ' + ${whereFourEyes}: edit it first, and ask another user ` +
              "to publish it'",
          },
          {
            expression:
              "!variables.asksRollback || oldObject == null || oldObject.?status.?phase.orValue('') != 'Committed' || " +
              "variables.mayApprove",
            reason: "Forbidden",
            messageExpression:
              `'user "' + request.userInfo.username + '" cannot request the rollback of this Committed Transaction: ' + ${where}): ' + ` +
              `'ask an approver ${approver} to request it'`,
          },
        ],
      },
    });
    denyByPolicy(this, metadata);
  }
}
