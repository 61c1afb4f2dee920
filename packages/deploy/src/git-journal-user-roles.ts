// ClusterRoles for users of the Git journal: view and edit.
import { GROUP } from "@janus/git-journal/authoring";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { labels } from "./labels.ts";
import type { TransactionRolesProps } from "./transaction-roles.ts";

const all = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/**
 * Permissions on the kinds of the Git journal, for users who already have the built-in role `view` or `edit` in a namespace. Repositories
 * are not for `view`: their URL may have a password. A ClusterWatchRule is written by who may do that in the cluster anyway.
 */
export class GitJournalUserRoles extends Construct {
  constructor(scope: Construct, id: string, { aggregateClusterRoles = true }: TransactionRolesProps = {}) {
    super(scope, id);
    const role = (part: string, to: "view" | "edit", resources: readonly string[], verbs: readonly string[]): void => {
      const aggregated = aggregateClusterRoles ? { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: "true" } : {};
      new k8s.KubeClusterRole(this, part, {
        metadata: { name: `janus-git-journal-${to}`, labels: { ...labels, ...aggregated } },
        rules: [{ apiGroups: [GROUP], resources: [...resources], verbs: [...verbs] }],
      });
    };
    role("View", "view", ["gitdestinations", "watchrules", "clusterwatchrules"], ["get", "list", "watch"]);
    role("Edit", "edit", ["gitrepoconfigs", "gitdestinations", "watchrules"], all);
  }
}
