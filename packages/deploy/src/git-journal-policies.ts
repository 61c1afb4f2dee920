// The admission policies of the Git journal: a rule, a recipient or a repository is no way to read what its author may not.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { GIT_JOURNAL_POLICIES, GROUP, PRESET, type PresetResource } from "@janus/git-journal/authoring";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { GIT_JOURNAL_NAME, gitJournalDefaults, type GitJournalProps } from "./git-journal-props.ts";
import { gitJournalLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface GitJournalPoliciesProps extends NamespacedProps, GitJournalProps {}

/**
 * The most resources of one rule whose permissions are checked: the API server lets a policy ask for 28, one of which is whether its
 * author may list everything.
 */
const MOST = 24;

const list = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(", ")}]`;

/** A resource as a text: `apps/deployments`, `/secrets`. */
const slashed = ({ group, plural }: PresetResource): string => `${group}/${plural}`;

const presetOf = (isNamespaced: boolean): string =>
  list(PRESET.filter(({ namespaced }) => namespaced === isNamespaced).map(slashed));

/** Whether the rule `r` is about all groups. */
const all = "(r.?apiGroups.orValue([]).size() == 0 || '*' in r.apiGroups)";

/** Resources that the rule `r` names; without their group, in every group. */
const named =
  `(${all} ? ['*'] : r.apiGroups).map(g, r.resources.filter(n, n != '*' && !n.contains('/')).map(n, g + '/' + n)` +
  ".join(' ')).join(' ')";

/** Resources that `*` of the rule `r` selects: the preset, and of a group without any of it all. The rules of a WatchRule have no scope. */
const wildcard =
  `!('*' in r.resources) ? '' : variables.watchesAll ? (${all} ? ['*'] : r.apiGroups).map(g, g + '/*').join(' ') : ` +
  `(variables.home == '' && r.?scope.orValue('') == 'Cluster' ? variables.ofCluster : variables.ofNamespaces)` +
  `.filter(p, ${all} || p.split('/')[0] in r.apiGroups).join(' ') + ' ' + ` +
  `(${all} ? [] : r.apiGroups.filter(g, !(g in variables.groups))).map(g, g + '/*').join(' ')`;

const groupOf = (resource: string): string => `${resource}.split('/')[0]`;
const pluralOf = (resource: string): string => `${resource}.substring(${resource}.indexOf('/') + 1)`;

const mayList = (group: string, plural: string): string =>
  `authorizer.group(${group}).resource(${plural}).namespace(variables.home).check('list').allowed()`;

const place = `(variables.home == '' ? 'in all namespaces' : 'in namespace "' + variables.home + '"')`;

/** That of the resource at this place of the list. */
const allowed = (at: number): k8s.Validation => {
  const resource = `variables.selected[${at}]`;
  return {
    expression: `variables.selected.size() <= ${at} || variables.everything || ${mayList(groupOf(resource), pluralOf(resource))}`,
    reason: "Forbidden",
    messageExpression:
      `'user "' + request.userInfo.username + '" cannot list ' + ${pluralOf(resource)} + ' in API group "' + ${groupOf(resource)} + '" ' + ` +
      `${place} + ': who writes a rule must be allowed to list what it selects: leave it out, ' + ` +
      `(${groupOf(resource)} == '*' ? 'name its group in apiGroups, ' : '') + 'or ask for the permission'`,
  };
};

const writesOf = (...resources: readonly string[]): k8s.MatchResources => ({
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    { apiGroups: [GROUP], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: [...resources], scope: "*" },
  ],
});

const isEdited = {
  name: "spec-is-edited",
  expression: "oldObject == null || dyn(object).?spec != dyn(oldObject).?spec",
};

const recipients = (object: string): string => `dyn(${object}).?spec.?secrets.?ageRecipients.orValue([])`;
const secretOf = (object: string): string => `dyn(${object}).?spec.?secretRef.?name.orValue('')`;
const urlOf = (object: string): string => `dyn(${object}).?spec.?repoUrl.orValue('')`;

/** What the policies are evaluated on, and by: all but the account of the controller, and its flag --watch-all. */
export const gitJournalPolicies = {
  rules: {
    matchConstraints: writesOf("watchrules", "clusterwatchrules"),
    variables: [
      // The request for an object of the cluster has no such field.
      { name: "home", expression: "request.?namespace.orValue('')" },
      { name: "ofNamespaces", expression: presetOf(true) },
      { name: "ofCluster", expression: presetOf(false) },
      { name: "groups", expression: list([...new Set(PRESET.map(({ group }) => group))]) },
      {
        name: "selected",
        expression: `dyn(object).spec.rules.map(r, ${named} + ' ' + (${wildcard})).join(' ').split(' ').filter(one, one != '')`,
      },
      { name: "everything", expression: mayList("'*'", "'*'") },
    ],
    validations: [
      ...Array.from({ length: MOST }, (_, at) => allowed(at)),
      {
        expression: `variables.selected.size() <= ${MOST} || variables.everything`,
        reason: "Forbidden",
        message: `the rules select more than ${MOST} resources, for which the permissions of their author are not checked at once: make several objects of them`,
      },
    ],
  },
  secrets: {
    matchConstraints: writesOf("gitdestinations", "gitrepoconfigs"),
    variables: [
      { name: "recipients", expression: recipients("object") },
      {
        name: "setsRecipients",
        expression: `variables.recipients.size() > 0 && (oldObject == null || variables.recipients != ${recipients("oldObject")})`,
      },
      { name: "secret", expression: secretOf("object") },
      {
        name: "setsSecret",
        expression:
          `variables.secret != '' && (oldObject == null || variables.secret != ${secretOf("oldObject")} || ` +
          `${urlOf("object")} != ${urlOf("oldObject")})`,
      },
    ],
    validations: [
      {
        expression:
          "!variables.setsRecipients || " +
          "authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed()",
        reason: "Forbidden",
        messageExpression:
          `'user "' + request.userInfo.username + '" cannot get secrets in namespace "' + request.namespace + ` +
          `'": who sets ageRecipients can read the Secrets that are encrypted for them: ask for the permission, or somebody who has it'`,
      },
      {
        expression:
          "!variables.setsSecret || " +
          "authorizer.group('').resource('secrets').namespace(request.namespace).name(variables.secret).check('get').allowed()",
        reason: "Forbidden",
        messageExpression:
          `'user "' + request.userInfo.username + '" cannot get Secret "' + variables.secret + '" in namespace "' + request.namespace + ` +
          `'": who sets secretRef or repoUrl decides where its credentials are sent: ask for the permission, or somebody who has it'`,
      },
    ],
  },
} as const satisfies Readonly<Record<string, k8s.ValidatingAdmissionPolicySpec>>;

/** The last one counts, as for the controller. */
const watchesAll = (flags: readonly string[]): boolean => {
  const given = flags.findLast((flag) => /^--watch-all(?:=|$)/u.test(flag));
  return given === "--watch-all" || given === "--watch-all=true";
};

/**
 * Two policies, which the API server enforces:
 *
 * - `janus-git-journal-rules`: who creates a WatchRule or ClusterWatchRule, or edits its spec, must be allowed to `list` the resources that it
 *   names: those of a WatchRule in its namespace, those of a ClusterWatchRule in the cluster.
 * - `janus-git-journal-secrets`: who sets the recipients of a GitDestination must be allowed to `get` Secrets in its namespace; who sets the
 *   Secret or the URL of a GitRepoConfig, that Secret, which is sent to this URL.
 *
 * Guarantees: nobody has something written to Git that they could not read, at the time when they write the rule.
 * Assumes:    no user can remove the policies or their bindings.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class GitJournalPolicies extends Construct {
  constructor(scope: Construct, id: string, props: GitJournalPoliciesProps = {}) {
    super(scope, id);
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { flags } = { ...gitJournalDefaults, ...props.gitJournal };
    const isNotController = {
      name: "is-not-the-controller",
      expression: `request.userInfo.username != 'system:serviceaccount:${namespace}:${GIT_JOURNAL_NAME}'`,
    };
    for (const about of ["rules", "secrets"] as const) {
      const { variables, ...spec } = gitJournalPolicies[about];
      const part = new Construct(this, about);
      const metadata = { name: GIT_JOURNAL_POLICIES[about], labels: gitJournalLabels };
      new k8s.KubeValidatingAdmissionPolicy(part, "Policy", {
        metadata,
        spec: {
          ...spec,
          failurePolicy: "Fail",
          matchConditions: [isNotController, isEdited],
          variables: [{ name: "watchesAll", expression: `${watchesAll(flags)}` }, ...variables],
          validations: [...spec.validations],
        },
      });
      denyByPolicy(part, metadata);
    }
  }
}
