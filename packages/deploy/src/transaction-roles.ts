import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { labels } from "./labels.ts";

/**
 * Rights on Transactions for the people who already have a role in a namespace: whoever may view it sees its Transactions, whoever
 * may edit it makes them. Status belongs to the controller; nobody else gets to write it.
 *
 * The built-in roles aggregate each other (view → edit → admin), so one label each is enough.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */
export class TransactionRoles extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new k8s.KubeClusterRole(this, "View", {
      metadata: {
        name: "janus-transactions-view",
        labels: { ...labels, "rbac.authorization.k8s.io/aggregate-to-view": "true" },
      },
      rules: [
        {
          apiGroups: ["backup.janus.io"],
          resources: ["transactions", "transactions/status"],
          verbs: ["get", "list", "watch"],
        },
      ],
    });
    new k8s.KubeClusterRole(this, "Edit", {
      metadata: {
        name: "janus-transactions-edit",
        labels: { ...labels, "rbac.authorization.k8s.io/aggregate-to-edit": "true" },
      },
      rules: [
        {
          apiGroups: ["backup.janus.io"],
          resources: ["transactions"],
          verbs: ["create", "update", "patch", "delete", "deletecollection"],
        },
      ],
    });
  }
}
