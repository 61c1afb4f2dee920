import { expect, it } from "vitest";
import { creating, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { policy } from "../restore/policy.ts";

const ready = async (place: Workspace): Promise<string> =>
  (await place.txn()).status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
const phase = async (place: Workspace): Promise<unknown> => (await place.txn()).status?.phase;

const ANNOTATIONS = `metadata: Object.metadata{annotations: {"touched": "yes"}}`;
const LABELS = `metadata: Object.metadata{labels: {"touched": "yes"}}`;

it.each<[what: string, change: WrittenChange, fields: string]>([
  ["an annotation, after a Patch", patching(configMap("app", { a: "2" })), ANNOTATIONS],
  ["a label, after an Update", updating(configMap("app", { a: "2" })), LABELS],
])(
  "names, of an object that Janus has created without metadata, what a policy still sets when it is rolled back: %s",
  async (_, change, fields) => {
    const place = await workspace();
    await place.janus();
    await place.run([creating(configMap("app", { a: "1" }))], { name: "first" });
    await place.create(configMap("probe"));
    await policy(place.namespace, fields);
    let count = 0;
    const probe = async () => JSON.stringify(await place.patch(configMap("probe", { count: `${(count += 1)}` })));
    await expect.poll(probe).toContain("touched");
    await place.submit([change], { rollbackWindow: "1h" });
    await expect.poll(() => phase(place)).toBe("Committed");
    await place.patch({
      ...transaction("txn"),
      metadata: { name: "txn", annotations: { "backup.janus.io/request-rollback": "now" } },
    });
    await expect.poll(() => phase(place)).toBe("RolledBack");
    expect(JSON.stringify((await place.read(configMap("app"))).metadata)).toContain("touched");
    expect(await ready(place)).toMatch(/^rolled back, except for .*(touched|labels|annotations)/u);
  },
);

it("restores, of an object that Janus has created without metadata, what admission has derived from the change", async () => {
  const place = await workspace();
  await place.janus();
  await place.run([creating(configMap("app", { a: "1" }))], { name: "first" });
  await place.create(configMap("probe"));
  // Only while a is 2.
  await policy(
    place.namespace,
    `metadata: Object.metadata{?labels: has(object.data) && object.data[?"a"].orValue("") == "2" ? optional.of({"touched": "yes"}) : optional.none()}`,
  );
  const probe = async () => JSON.stringify(await place.patch(configMap("probe", { a: "2" })));
  await expect.poll(probe).toContain("touched");
  await place.submit([patching(configMap("app", { a: "2" }))], { rollbackWindow: "1h" });
  await expect.poll(() => phase(place)).toBe("Committed");
  expect(JSON.stringify((await place.read(configMap("app"))).metadata)).toContain("touched");
  await place.patch({
    ...transaction("txn"),
    metadata: { name: "txn", annotations: { "backup.janus.io/request-rollback": "now" } },
  });
  await expect.poll(() => phase(place)).toBe("RolledBack");
  expect((await place.read(configMap("app"))).metadata.labels).toBeUndefined();
});
