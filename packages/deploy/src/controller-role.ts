import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";

/**
 * All that the controller may do as itself. It is little: every target is read and written as the ServiceAccount that the
 * Transaction names. Lease, ConfigMap and Secret names come from Transactions, so `resourceNames` cannot narrow the rules.
 */
const rules: readonly k8s.PolicyRule[] = [
  // Transactions are watched; `patch` and `update` put the finalizer on and take it off (it lives in metadata); `delete` ends one
  // whose ttlSecondsAfterFinished is over.
  {
    apiGroups: ["backup.janus.io"],
    resources: ["transactions"],
    verbs: ["get", "list", "watch", "patch", "update", "delete"],
  },
  // Phase, items and conditions are written to the status, which `patch` on the Transaction itself does not reach.
  { apiGroups: ["backup.janus.io"], resources: ["transactions/status"], verbs: ["get", "patch", "update"] },
  // An owner reference with blockOwnerDeletion, as on a rolled-back snapshot, needs this (OwnerReferencesPermissionEnforcement).
  { apiGroups: ["backup.janus.io"], resources: ["transactions/finalizers"], verbs: ["update"] },
  // A lock is a Lease in its target's namespace; `list` and `watch` see that one has become free. The leader's Lease is one more.
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
  // Snapshots and the journal lie in the Transaction's namespace; those of Secrets lie in Secrets. They are always asked for by
  // name: without `list` and `watch` nothing can be found out about anybody else's Secrets but by guessing a name.
  { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "create", "update", "patch", "delete"] },
  // What happened to a Transaction is told in Events; `patch` counts a repeated one. Both APIs write the same objects.
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  // Is the namespace of a Transaction or of a target terminating? Then nothing of ours may hold it up.
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
  // `get` tells a missing ServiceAccount from one without rights; `impersonate` is how targets are read and written. The API server
  // adds the groups of a ServiceAccount to its impersonated user by itself: there is no right to impersonate any group or user.
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get", "impersonate"] },
  // Writes to targets carry the term of the leader that decided them, which the fence compares with the leader's Lease.
  { apiGroups: ["authentication.k8s.io"], resources: ["userextras/janus.io/fence"], verbs: ["impersonate"] },
];

/**
 * The ClusterRole of the controller: least privilege, each rule with its reason.
 *
 * It is still a role to guard: who holds it can act as any ServiceAccount of the cluster, and read any Secret whose name is known.
 */
export class ControllerRole extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new k8s.KubeClusterRole(this, "Resource", {
      metadata: { name: controllerName, labels: controllerLabels },
      rules: [...rules],
    });
  }
}
