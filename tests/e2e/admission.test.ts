import { REQUEST_ROLLBACK } from "@janus/api";
import { expect, it } from "vitest";
import { patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { policy } from "../restore/policy.ts";

const dataOf = async ({ read }: Workspace, name: string) =>
  (await read(configMap(name)))["data"] as Readonly<Record<string, string>>;

/** From now on, every ConfigMap whose `a` is `2` gets another version. */
const versioned = async (place: Workspace): Promise<void> => {
  await policy(place.namespace, 'data: object.?data.a.orValue("") == "2" ? {"version": "two"} : {}');
  await place.create(configMap("probe", { a: "2", version: "one" }));
  const isInForce = async () => {
    await place.patch(configMap("probe", { n: `${performance.now()}` }));
    return (await dataOf(place, "probe"))["version"];
  };
  await expect.poll(isInForce).toBe("two");
};

it.each<readonly [string, "create" | "apply", WrittenChange]>([
  ["a Patch", "create", patching(configMap("there", { a: "2" }))],
  ["an Update", "create", updating(configMap("there", { a: "2", version: "one" }))],
  ["a Patch of what a GitOps tool has applied", "apply", patching(configMap("there", { a: "2" }))],
])("what an admission policy derives from a change is rolled back with it: %s", async (_, written, change) => {
  const place = await workspace();
  await place[written](configMap("there", { a: "1", version: "one" }));
  await versioned(place);
  // Managers that have written within the second in which the Transaction was created may have written after its change.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await place.janus();
  await place.submit([change], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  expect(await dataOf(place, "there")).toEqual({ a: "2", version: "two" });
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "yes" } } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  expect(await dataOf(place, "there")).toEqual({ a: "1", version: "one" });
});
