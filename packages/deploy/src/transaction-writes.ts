// The match rules of admission policies: writes of Transactions by users.
import { GROUP } from "@janus/api";
import type { k8s } from "cdk8s-plus-30";

/**
 * User writes of Transactions, in the namespaces with this label. With the API server's defaults set explicitly: two managers that
 * apply it must not conflict.
 *
 * @param label - of the Namespace, with any value; absent: all namespaces
 */
export const transactionWrites = (label?: string): k8s.MatchResources => ({
  matchPolicy: "Equivalent",
  namespaceSelector: label === undefined ? {} : { matchExpressions: [{ key: label, operator: "Exists" }] },
  objectSelector: {},
  resourceRules: [
    {
      apiGroups: [GROUP],
      apiVersions: ["*"],
      operations: ["CREATE", "UPDATE"],
      resources: ["transactions"],
      scope: "*",
    },
  ],
});
