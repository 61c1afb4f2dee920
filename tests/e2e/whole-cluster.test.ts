import { expect, it } from "vitest";
import { deleting, patching } from "../fixtures/changes.ts";
import { clusterRole, clusterRoleBinding, configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

it("deletes what belongs to no namespace, though some kinds that it is looked for in give no resourceVersion", async () => {
  const { namespace, create, exists, janus, run } = await workspace();
  const role = clusterRole(`${namespace}:doomed`);
  await create(role, clusterRoleBinding(namespace, "cluster-admin", `${namespace}/deployer`));
  await janus();
  const { status } = await run([deleting(role)]);
  expect(status.phase).toBe("Committed");
  expect(await exists(role)).toBe(false);
});

it("refuses a value that cannot be what it should be, with no changes applied, also where the API server calls that its own failure", async () => {
  const { create, janus, run, read } = await workspace();
  await create(configMap("c", { k: "old" }));
  await janus();
  const { status } = await run([patching({ ...configMap("c"), immutable: "yes" })]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("the API server refuses to patch ConfigMap");
  expect(status.items[0]?.error).toContain("failed to create typed patch object");
  expect(await read(configMap("c"))).toMatchObject({ data: { k: "old" } });
});
