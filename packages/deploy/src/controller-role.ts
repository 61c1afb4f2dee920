// The ClusterRole with the controller's own permissions.
import { CONTROLLER_NAME, FENCE_KEY, GROUP, PLURAL } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import type { ActsAsProps } from "./impersonation-roles.ts";
import { controllerLabels } from "./labels.ts";

export interface ControllerRoleProps extends ActsAsProps {
  /**
   * Whether the controller authenticates and authorizes requests for its metrics.
   * @default false
   */
  readonly metricsAuth?: boolean;
}

/**
 * The permissions of the controller itself, in every installation. They are few: every target is read and written as the
 * ServiceAccount that the Transaction names. Names of Leases, ConfigMaps and Secrets come from Transactions, so `resourceNames`
 * cannot restrict the rules.
 */
const rules: readonly k8s.PolicyRule[] = [
  // Transactions are watched; `patch` adds and removes the finalizer (which is in metadata); `delete` removes one whose
  // ttlSecondsAfterFinished has passed.
  { apiGroups: [GROUP], resources: [PLURAL], verbs: ["get", "list", "watch", "patch", "delete"] },
  // Phase, items and conditions are written to the status, which `patch` on the Transaction itself does not reach.
  { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ["patch"] },
  // A lock is a Lease in its target's namespace. The leader's Lease is one more.
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "patch", "delete"] },
  // Snapshots and the journal are in the Transaction's namespace; snapshots of Secrets are Secrets. They are always read by
  // name: without `list` and `watch`, other Secrets can be found only by guessing a name.
  { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "create", "patch", "delete"] },
  // Events of Transactions; `patch` updates the count of repeated ones.
  { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  // To detect that the namespace of a Transaction or of a target is terminating: our objects must not block that.
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
  // To distinguish a missing ServiceAccount from one without permissions.
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get"] },
  // Writes to targets carry the term of the leader, which the fence compares with the leader's Lease. This permission is
  // cluster-scoped, also if those for ServiceAccounts are not.
  { apiGroups: ["authentication.k8s.io"], resources: [`userextras/${FENCE_KEY}`], verbs: ["impersonate"] },
];

/**
 * Targets are read and written as ServiceAccounts. The API server adds the groups of an impersonated ServiceAccount by itself:
 * there is no permission to impersonate any group or user.
 */
const impersonateAll: k8s.PolicyRule = { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] };

/** To authenticate a token, and to authorize its user to `get` /metrics. */
const askForRights: readonly k8s.PolicyRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/**
 * The ClusterRole of the controller: least privilege, each rule with its reason.
 *
 * It is still a powerful role: its holder can act as any ServiceAccount of the cluster, or as those in `actsAs`, and read any
 * Secret whose name is known.
 */
export class ControllerRole extends Construct {
  constructor(scope: Construct, id: string, props: ControllerRoleProps = {}) {
    super(scope, id);
    new k8s.KubeClusterRole(this, "Resource", {
      metadata: { name: CONTROLLER_NAME, labels: controllerLabels },
      rules: [
        ...rules,
        ...(props.actsAs === undefined ? [impersonateAll] : []),
        ...(props.metricsAuth === true ? askForRights : []),
      ],
    });
  }
}
