import { transactions } from "@janus/api";
import type { Api, KubeObject } from "@janus/kube";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { CONNECTIONS, create, must } from "./world.ts";

/**
 * Many finished Transactions that were never executed: copies of real ones, in turn, with the status that the controller gave
 * those.
 *
 * Assumes: no controller is running.
 */
export const copyFinished = async (
  api: Api,
  models: readonly KubeObject[],
  namespaces: readonly string[],
  count: number,
): Promise<void> => {
  const numbers = Array.from({ length: count }, (_, n) => n);
  await sideBySide(CONNECTIONS, numbers, async (n) => {
    const model = models[n % models.length];
    const namespace = namespaces[n % namespaces.length] ?? "";
    const name = `finished-${n}`;
    await create(api, transactions, namespace, { metadata: { name }, spec: model?.["spec"] });
    const body = { status: model?.["status"] };
    must(await api.send({ verb: "mergePatch", resource: transactions, namespace, name, subresource: "status", body }));
  });
};
