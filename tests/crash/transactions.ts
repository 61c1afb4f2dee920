// Has an API server serve Transactions.
import { transactionCrd, transactions } from "@janus/api";
import type { Api, Resource } from "@janus/kube";
import { must } from "./world.ts";

export const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
  statusSubresource: true,
};

/** Has the API server serve Transactions, and waits until it does. */
export const installTransactions = async (api: Api): Promise<void> => {
  const name = "transactions.backup.janus.io";
  must(
    await api.send({ verb: "apply", resource: crds, name, body: transactionCrd, fieldManager: "setup", force: true }),
  );
  for (let tries = 0; tries < 300; tries += 1) {
    const listed = await api.send({ verb: "list", resource: transactions, namespace: "default" });
    if (listed._tag === "Right") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the API server never served Transactions");
};
