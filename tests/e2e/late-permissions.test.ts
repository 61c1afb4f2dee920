import { REQUEST_ROLLBACK } from "@janus/api";
import { expect, it } from "vitest";
import { creating } from "../fixtures/changes.ts";
import { configMap, serviceAccount, within } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

it("locks nothing in a namespace where it has no permissions, however long it waits for them", async () => {
  const mine = await workspace();
  const other = await workspace();
  const { hook, requests } = recording();
  await mine.janus(hook);
  const others = () =>
    requests.flatMap((request) =>
      request.purpose === "lock" && "namespace" in request && request.namespace === other.namespace
        ? [request.verb]
        : [],
    );
  await mine.submit(
    [creating(serviceAccount("helper")), creating(within(other.namespace, configMap("wanted", { a: "1" })))],
    { timeout: "1000h" },
  );
  const message = async () => (await mine.txn()).status?.conditions.find(({ type }) => type === "Ready")?.message ?? "";
  await expect.poll(message).toContain("grant it the verbs create and delete on configmaps");
  expect(others()).toEqual([]);
  // Its own people need the object meanwhile, and nothing is in their way.
  await other.janus();
  expect((await other.run([creating(configMap("wanted", { b: "1" }))])).status.phase).toBe("Committed");

  const annotations = { [REQUEST_ROLLBACK]: "now" };
  await mine.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  expect((await mine.over()).status.phase).toBe("RolledBack");
  expect(others()).toEqual([]);
  expect(await other.read(configMap("wanted"))).toMatchObject({ data: { b: "1" } });
});
