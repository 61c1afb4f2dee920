// The permissions of the Blueprint controller.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { BLUEPRINTS_LEASE, FENCE } from "@janus/blueprints";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { BLUEPRINTS_NAME, type BlueprintsProps } from "./blueprints-props.ts";
import { blueprintsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface BlueprintRolesProps extends NamespacedProps, BlueprintsProps {
  /**
   * Whether the controller authenticates and authorizes requests for its metrics.
   * @default false
   */
  readonly metricsAuth?: boolean;
}

/** Nothing on Pods, workloads and the objects of a Blueprint: those are read and written as the user's ServiceAccount. */
const work: readonly k8s.PolicyRule[] = [
  { apiGroups: ["cr.kanister.io"], resources: ["blueprints", "profiles"], verbs: ["get", "list", "watch"] },
  // `patch` writes status and finalizer: Kanister's kinds have no status subresource. `delete` is for a time to live.
  { apiGroups: ["cr.kanister.io"], resources: ["actionsets"], verbs: ["get", "list", "watch", "patch", "delete"] },
  // Where somebody else's definition has it.
  { apiGroups: ["cr.kanister.io"], resources: ["actionsets/status"], verbs: ["patch"] },
  // Journals, always by name: without `list` and `watch`, other Secrets can be found only by guessing a name.
  { apiGroups: [""], resources: ["secrets"], verbs: ["create", "get", "patch", "delete"] },
  { apiGroups: [""], resources: ["events"], verbs: ["create"] },
  // To distinguish a missing ServiceAccount from one without permissions, and to act as it.
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get", "impersonate"] },
];

/** A name cannot restrict `create`. The change of leader is an event of the Lease. */
const lead: readonly k8s.PolicyRule[] = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: [BLUEPRINTS_LEASE],
    verbs: ["get", "patch"],
  },
  { apiGroups: [""], resources: ["events"], verbs: ["create"] },
];

const apiGroup = "rbac.authorization.k8s.io";

/** Writes as others carry the term of the leader, which the fence compares with its Lease. This permission is cluster-scoped. */
const bearTerm: k8s.PolicyRule = {
  apiGroups: ["authentication.k8s.io"],
  resources: [`userextras/${FENCE.key}`],
  verbs: ["impersonate"],
};

/** To check whether the fence is up, it impersonates itself. */
const actAsItself: k8s.PolicyRule = {
  apiGroups: [""],
  resources: ["serviceaccounts"],
  resourceNames: [BLUEPRINTS_NAME],
  verbs: ["impersonate"],
};

/**
 * The Roles of the Blueprint controller: for its Lease in its own namespace, and for ActionSets in each watched one. Only where all
 * namespaces are watched the latter is a ClusterRole; in any case there is one for the term of the leader.
 *
 * Guarantees: no permission on Pods, workloads, or Secrets to list.
 */
export class BlueprintRoles extends Construct {
  constructor(scope: Construct, id: string, props: BlueprintRolesProps = {}) {
    super(scope, id);
    const { namespace: home = SYSTEM_NAMESPACE, blueprints: { watchNamespaces } = {} } = props;
    if (watchNamespaces?.length === 0)
      throw new Error("blueprints.watchNamespaces is empty: name a namespace, or leave it out for all");
    const subjects = [{ kind: "ServiceAccount", name: BLUEPRINTS_NAME, namespace: home }];
    const leading = { name: BLUEPRINTS_LEASE, namespace: home, labels: blueprintsLabels };
    new k8s.KubeRole(this, "Lead", { metadata: leading, rules: [...lead, actAsItself] });
    const leadRef = { apiGroup, kind: "Role", name: leading.name };
    new k8s.KubeRoleBinding(this, "LeadBinding", { metadata: leading, roleRef: leadRef, subjects });

    const metadata = { name: BLUEPRINTS_NAME, labels: blueprintsLabels };
    const everywhere = watchNamespaces === undefined ? [...work, bearTerm] : [bearTerm];
    new k8s.KubeClusterRole(this, "Everywhere", { metadata, rules: everywhere });
    const everywhereRef = { apiGroup, kind: "ClusterRole", name: BLUEPRINTS_NAME };
    new k8s.KubeClusterRoleBinding(this, "EverywhereBinding", { metadata, roleRef: everywhereRef, subjects });
    for (const namespace of watchNamespaces ?? []) {
      new k8s.KubeRole(this, `Work-${namespace}`, { metadata: { ...metadata, namespace }, rules: [...work] });
      const roleRef = { apiGroup, kind: "Role", name: BLUEPRINTS_NAME };
      const binding = { metadata: { ...metadata, namespace }, roleRef, subjects };
      new k8s.KubeRoleBinding(this, `WorkBinding-${namespace}`, binding);
    }
    // The built-in role that lets a server ask whose token it was given, and what that user may do.
    if (props.metricsAuth === true)
      new k8s.KubeClusterRoleBinding(this, "MetricsAuth", {
        metadata: { name: `${BLUEPRINTS_NAME}-metrics-auth`, labels: blueprintsLabels },
        roleRef: { apiGroup, kind: "ClusterRole", name: "system:auth-delegator" },
        subjects,
      });
  }
}
