// ClusterRoles for users of Transactions: view, edit and approve.
import { GROUP, PLURAL } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { labels } from "./labels.ts";

export interface TransactionRolesProps {
  /**
   * Whether the built-in roles have the permissions to view and edit Transactions, Kanister's kinds and those of the Git journal. Otherwise bind the ClusterRoles yourself.
   * @default true
   */
  readonly aggregateClusterRoles?: boolean;
}

/**
 * Permissions on Transactions. Those to view and edit are for users who already have the built-in role `edit` in a namespace. Not for `view`, which may not
 * read Secrets: a Transaction contains the values that it sets in Secrets. Only the controller may write status.
 *
 * No built-in role has the permission to approve: bind `janus-transactions-approve` to those who may. It does not allow to create a
 * Transaction, and without `impersonate` on its ServiceAccount no user can edit one.
 *
 * The built-in roles aggregate each other (edit → admin), so one label is enough.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */
export class TransactionRoles extends Construct {
  constructor(scope: Construct, id: string, { aggregateClusterRoles = true }: TransactionRolesProps = {}) {
    super(scope, id);
    const aggregated = aggregateClusterRoles ? { "rbac.authorization.k8s.io/aggregate-to-edit": "true" } : {};
    new k8s.KubeClusterRole(this, "View", {
      metadata: {
        name: "janus-transactions-view",
        labels: { ...labels, ...aggregated },
      },
      rules: [
        {
          apiGroups: [GROUP],
          resources: [PLURAL, `${PLURAL}/status`],
          verbs: ["get", "list", "watch"],
        },
      ],
    });
    new k8s.KubeClusterRole(this, "Edit", {
      metadata: {
        name: "janus-transactions-edit",
        labels: { ...labels, ...aggregated },
      },
      rules: [
        {
          apiGroups: [GROUP],
          resources: [PLURAL],
          verbs: ["create", "update", "patch", "delete", "deletecollection"],
        },
      ],
    });
    new k8s.KubeClusterRole(this, "Approve", {
      metadata: { name: "janus-transactions-approve", labels },
      rules: [
        {
          apiGroups: [GROUP],
          resources: [PLURAL],
          verbs: ["get", "list", "watch", "update", "patch", "approve"],
        },
      ],
    });
  }
}
