// ClusterRoles for users of Blueprints: view and edit.
import { GROUP } from "@janus/blueprints";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { labels } from "./labels.ts";
import type { TransactionRolesProps } from "./transaction-roles.ts";

const apiGroups = [GROUP];
const resources = ["actionsets", "blueprints", "profiles"];

/**
 * Permissions on Kanister's kinds, for users who already have the built-in role `edit` in a namespace, as those on Transactions: who may
 * start Pods with any ServiceAccount there may have commands of a Blueprint run as one. Not for `view`: what commands have given may be
 * seen in the status of an ActionSet.
 */
export class BlueprintUserRoles extends Construct {
  constructor(scope: Construct, id: string, { aggregateClusterRoles = true }: TransactionRolesProps = {}) {
    super(scope, id);
    const aggregated = aggregateClusterRoles ? { "rbac.authorization.k8s.io/aggregate-to-edit": "true" } : {};
    const role = (part: string, name: string, verbs: readonly string[]): void => {
      new k8s.KubeClusterRole(this, part, {
        metadata: { name, labels: { ...labels, ...aggregated } },
        rules: [{ apiGroups, resources, verbs: [...verbs] }],
      });
    };
    role("View", "janus-blueprints-view", ["get", "list", "watch"]);
    role("Edit", "janus-blueprints-edit", ["create", "update", "patch", "delete", "deletecollection"]);
  }
}
