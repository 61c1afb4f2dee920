import type { k8s } from "cdk8s-plus-30";

/** The annotation of a Transaction that says which user created it. */
export const REQUESTED_BY = "backup.janus.io/requested-by";

/** User writes of Transactions. With the API server's defaults set explicitly: two managers that apply it must not conflict. */
export const transactionWrites: k8s.MatchResources = {
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    {
      apiGroups: ["backup.janus.io"],
      apiVersions: ["*"],
      operations: ["CREATE", "UPDATE"],
      resources: ["transactions"],
      scope: "*",
    },
  ],
};
