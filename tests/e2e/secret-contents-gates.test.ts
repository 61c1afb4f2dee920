import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { patching } from "../fixtures/changes.ts";
import { contentsSecret, from } from "../fixtures/contents.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const HIDDEN = "hunter2";

const everything = async (place: Workspace, log: readonly string[]): Promise<string> =>
  [
    JSON.stringify((await place.txn()).status),
    JSON.stringify(await administrator.list({ apiVersion: "v1", kind: "Event" }, place.namespace)),
    ...log,
  ].join("\n");
const around = (text: string): string => {
  const at = text.indexOf(HIDDEN);
  return at === -1 ? "" : text.slice(Math.max(0, at - 200), at + 100);
};
const contents = contentsSecret("contents", {
  one: { metadata: { finalizers: [`example.com/${HIDDEN}`] }, data: { a: HIDDEN } },
});

it("shows no value of contents in a Secret when a gate is not met", async () => {
  const place = await workspace();
  await place.create(configMap("app", { a: "1" }), contents);
  const { log } = await place.janus();
  await place.run([
    { ...from(patching(configMap("app")), contents, "one"), waitFor: ["jsonpath={.data.a}=other"], waitTimeout: "1s" },
  ]);
  expect(around(await everything(place, log))).toBe("");
});

it("shows no value of contents in a Secret when a rollback meets what others have taken over", async () => {
  const place = await workspace();
  await place.create(configMap("app", { a: "1" }), contents);
  const { log } = await place.janus();
  await place.submit([from(patching(configMap("app")), contents, "one")], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await place.apply({
    ...configMap("app", { a: "3" }),
    metadata: { name: "app", finalizers: [`example.com/${HIDDEN}`] },
  });
  await place.patch({
    ...transaction("txn"),
    metadata: { name: "txn", annotations: { "backup.janus.io/request-rollback": "now" } },
  });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Failed");
  const all = await everything(place, log);
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: null } });
  expect(around(all)).toBe("");
});
