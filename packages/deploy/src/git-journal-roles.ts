// The permissions of the controller of the Git journal.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { GROUP, PRESET, TLS_SECRET } from "@janus/git-journal/authoring";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { GIT_JOURNAL_NAME, gitJournalDefaults, type GitJournalProps } from "./git-journal-props.ts";
import { gitJournalLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface GitJournalRolesProps extends NamespacedProps, GitJournalProps {
  /**
   * Whether the controller authenticates and authorizes requests for its metrics.
   * @default false
   */
  readonly metricsAuth?: boolean;
}

const reading = ["get", "list", "watch"];

const kinds = ["gitrepoconfigs", "gitdestinations", "watchrules", "clusterwatchrules"];

const isSecrets = (group: string, plural: string): boolean => group === "" && plural === "secrets";

/** All that `*` selects, but for Secrets: these have rules of their own. */
const preset: readonly k8s.PolicyRule[] = [...new Set(PRESET.map(({ group }) => group))].map((group) => ({
  apiGroups: [group],
  resources: PRESET.filter((one) => one.group === group && !isSecrets(group, one.plural)).map(({ plural }) => plural),
  verbs: reading,
}));

/** No write to any kind that is journaled. */
const work: readonly k8s.PolicyRule[] = [
  { apiGroups: [GROUP], resources: kinds, verbs: reading },
  { apiGroups: [GROUP], resources: kinds.map((plural) => `${plural}/status`), verbs: ["patch"] },
  // Which changes are those of one Transaction, and who has requested it.
  { apiGroups: ["backup.janus.io"], resources: ["transactions"], verbs: reading },
  // Selectors of rules and of repositories go by their labels.
  { apiGroups: [""], resources: ["namespaces"], verbs: reading },
  // Credentials, always by name.
  { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
  { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  // Which resources it is called for, and the certificate by which it is known.
  {
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["validatingwebhookconfigurations"],
    resourceNames: [GIT_JOURNAL_NAME],
    verbs: ["get", "patch"],
  },
];

/** In its own namespace. A name cannot restrict `create`. */
const home: readonly k8s.PolicyRule[] = [
  // Of the leader, of branches, and of the replicas that share them.
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
  // The certificate of the webhook, and the key of digests, which is never changed.
  { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  { apiGroups: [""], resources: ["secrets"], resourceNames: [TLS_SECRET], verbs: ["get", "patch"] },
  // The leader labels its own Pod, for the Service of the webhook.
  { apiGroups: [""], resources: ["pods"], verbs: ["patch"] },
];

const apiGroup = "rbac.authorization.k8s.io";

/**
 * The roles of the controller: it reads what may be journaled, and writes only the status of its own kinds and what is its own.
 *
 * Guarantees: no write to any kind that it journals; without `secrets` no permission to list or watch Secrets, unless `resources`
 *             gives it.
 */
export class GitJournalRoles extends Construct {
  constructor(scope: Construct, id: string, props: GitJournalRolesProps = {}) {
    super(scope, id);
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { resources, secrets } = { ...gitJournalDefaults, ...props.gitJournal };
    const content: k8s.PolicyRule = { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] };
    const more = resources.map(
      ({ apiGroups, resources }): k8s.PolicyRule => ({
        apiGroups: [...apiGroups],
        resources: [...resources],
        verbs: reading,
      }),
    );
    const rules = [...preset, ...(secrets ? [content] : []), ...more, ...work];
    const subjects = [{ kind: "ServiceAccount", name: GIT_JOURNAL_NAME, namespace }];
    const metadata = { name: GIT_JOURNAL_NAME, labels: gitJournalLabels };
    const here = { ...metadata, namespace };
    new k8s.KubeRole(this, "Home", { metadata: here, rules: [...home] });
    new k8s.KubeRoleBinding(this, "HomeBinding", {
      metadata: here,
      roleRef: { apiGroup, kind: "Role", name: GIT_JOURNAL_NAME },
      subjects,
    });
    new k8s.KubeClusterRole(this, "Everywhere", { metadata, rules });
    new k8s.KubeClusterRoleBinding(this, "EverywhereBinding", {
      metadata,
      roleRef: { apiGroup, kind: "ClusterRole", name: GIT_JOURNAL_NAME },
      subjects,
    });
    // The built-in role that lets a server ask whose token it was given, and what that user may do.
    if (props.metricsAuth === true)
      new k8s.KubeClusterRoleBinding(this, "MetricsAuth", {
        metadata: { name: `${GIT_JOURNAL_NAME}-metrics-auth`, labels: gitJournalLabels },
        roleRef: { apiGroup, kind: "ClusterRole", name: "system:auth-delegator" },
        subjects,
      });
  }
}
