import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName } from "./defaults.ts";
import type { ActsAsProps } from "./impersonation-roles.ts";
import { controllerLabels } from "./labels.ts";

export interface ControllerRoleProps extends ActsAsProps {
  /**
   * Whether the controller asks who it is that wants to see its metrics.
   * @default false
   */
  readonly metricsAuth?: boolean;
}

/**
 * All that the controller may do as itself, in every case. It is little: every target is read and written as the ServiceAccount
 * that the Transaction names. Lease, ConfigMap and Secret names come from Transactions, so `resourceNames` cannot narrow the rules.
 */
const rules: readonly k8s.PolicyRule[] = [
  // Transactions are watched; `patch` puts the finalizer on and takes it off (it lives in metadata); `delete` ends one whose
  // ttlSecondsAfterFinished is over.
  { apiGroups: ["backup.janus.io"], resources: ["transactions"], verbs: ["get", "list", "watch", "patch", "delete"] },
  // Phase, items and conditions are written to the status, which `patch` on the Transaction itself does not reach.
  { apiGroups: ["backup.janus.io"], resources: ["transactions/status"], verbs: ["patch"] },
  // A lock is a Lease in its target's namespace. The leader's Lease is one more.
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "patch", "delete"] },
  // Snapshots and the journal lie in the Transaction's namespace; those of Secrets lie in Secrets. They are always asked for by
  // name: without `list` and `watch` nothing can be found out about anybody else's Secrets but by guessing a name.
  { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "create", "patch", "delete"] },
  // What happened to a Transaction is told in Events; `patch` counts what is told again and again.
  { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  // Is the namespace of a Transaction or of a target terminating? Then nothing of ours may hold it up.
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
  // Tells a missing ServiceAccount from one without rights.
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get"] },
  // Writes to targets carry the term of the leader that decided them, which the fence compares with the leader's Lease. It is
  // not in any namespace, also where ServiceAccounts are.
  { apiGroups: ["authentication.k8s.io"], resources: ["userextras/janus.io/fence"], verbs: ["impersonate"] },
];

/**
 * Targets are read and written as ServiceAccounts. The API server adds the groups of a ServiceAccount to its impersonated user by
 * itself: there is no right to impersonate any group or user.
 */
const impersonateAll: k8s.PolicyRule = { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] };

/** Whose token is it, and may they `get` /metrics? */
const askForRights: readonly k8s.PolicyRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/**
 * The ClusterRole of the controller: least privilege, each rule with its reason.
 *
 * It is still a role to guard: who holds it can act as any ServiceAccount of the cluster, or of those in `actsAs`, and read any
 * Secret whose name is known.
 */
export class ControllerRole extends Construct {
  constructor(scope: Construct, id: string, props: ControllerRoleProps = {}) {
    super(scope, id);
    new k8s.KubeClusterRole(this, "Resource", {
      metadata: { name: controllerName, labels: controllerLabels },
      rules: [
        ...rules,
        ...(props.actsAs === undefined ? [impersonateAll] : []),
        ...(props.metricsAuth === true ? askForRights : []),
      ],
    });
  }
}
