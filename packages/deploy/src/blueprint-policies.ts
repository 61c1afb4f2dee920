// The admission policies of ActionSets: as whom they act, and who writes what has become of them.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { BLUEPRINT_POLICIES, JOURNAL_PREFIX, RUNNING, SERVICE_ACCOUNT } from "@janus/blueprints";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { BLUEPRINTS_NAME, blueprintsDefaults, type BlueprintsProps } from "./blueprints-props.ts";
import { denyByPolicy } from "./deny-by-policy.ts";
import { blueprintsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { watchedWrites } from "./watched-writes.ts";

export interface BlueprintPoliciesProps extends NamespacedProps, BlueprintsProps {}

/** Of a version of the object; `''`: it names none. As the controller reads it: the field wins over the label. */
const accountOf = (object: string): string =>
  `dyn(${object}).?spec.?serviceAccountName.orValue('') != '' ? dyn(${object}).spec.serviceAccountName : ` +
  `${object}.metadata.?labels[?'${SERVICE_ACCOUNT}'].orValue('')`;

const hasFinalizer = (object: string): string => `'${RUNNING}' in ${object}.metadata.?finalizers.orValue([])`;

const statusOf = (object: string): string => `dyn(${object}).?status.orValue({})`;

/** Ended by hand: one that another controller was running, and that this one never takes up. */
const isAbandoned =
  `!(${hasFinalizer("oldObject")}) && ${statusOf("oldObject")}.?state.orValue('') == 'running' && ` +
  `${statusOf("object")}.?state.orValue('') == 'failed'`;

/**
 * Two policies, which the API server enforces:
 *
 * - `janus-blueprints-actionsets`: an ActionSet that names a ServiceAccount may be created, and its spec be edited, only by who may
 *   impersonate that; with `requireImpersonate: "Always"` the default one counts as named. Its status and its finalizer are written by
 *   the controller alone, but for one that it never took up, which may be abandoned; a status that is there at its creation, as after a
 *   restore from a backup, says that it has ended.
 * - `janus-blueprints-journals`: journals are written by the controller alone.
 *
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class BlueprintPolicies extends Construct {
  constructor(scope: Construct, id: string, props: BlueprintPoliciesProps = {}) {
    super(scope, id);
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { defaultServiceAccount, requireImpersonate } = { ...blueprintsDefaults, ...props.blueprints };
    const isController = `request.userInfo.username == 'system:serviceaccount:${namespace}:${BLUEPRINTS_NAME}'`;
    const policy = (name: string, spec: k8s.ValidatingAdmissionPolicySpec): void => {
      const part = new Construct(this, name);
      const metadata = { name, labels: blueprintsLabels };
      new k8s.KubeValidatingAdmissionPolicy(part, "Policy", { metadata, spec: { failurePolicy: "Fail", ...spec } });
      denyByPolicy(part, metadata);
    };

    policy(BLUEPRINT_POLICIES.actionSets, {
      matchConstraints: watchedWrites(props, ["cr.kanister.io", "*", "actionsets", "actionsets/status"]),
      matchConditions: [{ name: "is-not-the-controller", expression: `!(${isController})` }],
      variables: [
        { name: "named", expression: accountOf("object") },
        // Empty: nobody is asked.
        {
          name: "account",
          expression: `variables.named == '' ? '${requireImpersonate === "Always" ? defaultServiceAccount : ""}' : variables.named`,
        },
        {
          name: "isEdited",
          expression:
            `oldObject == null || dyn(object).?spec != dyn(oldObject).?spec || ` +
            `variables.named != (${accountOf("oldObject")})`,
        },
      ],
      validations: [
        {
          expression:
            "!variables.isEdited || variables.account == '' || " +
            "authorizer.group('').resource('serviceaccounts').namespace(request.namespace)" +
            ".name(variables.account).check('impersonate').allowed()",
          reason: "Forbidden",
          messageExpression:
            `'user "' + request.userInfo.username + '" cannot impersonate ServiceAccount "' + variables.account + ` +
            `'" in namespace "' + request.namespace + '": name a ServiceAccount that you may impersonate, or ask for the ` +
            "permission to impersonate this one (verb impersonate on serviceaccounts, as in the role edit)'",
        },
        {
          expression:
            `oldObject == null ? ${statusOf("object")}.?state.orValue('complete') in ['complete', 'failed'] : ` +
            `${statusOf("object")} == ${statusOf("oldObject")} || (${isAbandoned})`,
          reason: "Forbidden",
          message:
            "only the controller of Janus writes the status of an ActionSet; one that is created with a status has ended: leave the status out to run it",
        },
        {
          expression: `oldObject == null || (${hasFinalizer("object")}) == (${hasFinalizer("oldObject")})`,
          reason: "Forbidden",
          message: `only the controller of Janus sets and removes the finalizer ${RUNNING}: delete the ActionSet, and it is removed when its deferPhase has run`,
        },
      ],
    });

    policy(BLUEPRINT_POLICIES.journals, {
      matchConstraints: watchedWrites(props, ["", "v1", "secrets"]),
      matchConditions: [
        { name: "is-not-the-controller", expression: `!(${isController})` },
        { name: "is-a-journal", expression: `object.metadata.?name.orValue('').startsWith('${JOURNAL_PREFIX}')` },
      ],
      validations: [
        {
          expression: "false",
          reason: "Forbidden",
          message: `only the controller of Janus writes Secrets whose name begins with ${JOURNAL_PREFIX}: they say what an ActionSet has done`,
        },
      ],
    });
  }
}
