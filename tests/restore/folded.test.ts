import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const there = configMap("there", { a: "0", host: "x" });

/** What as many Transactions leave of themselves that have patched the same fields of an object; the first one, another field. */
const patched = async ({ namespace, create }: Workspace, times: number): Promise<void> => {
  await create(there);
  for (let n = 0; n < times; n += 1) {
    const stdin = JSON.stringify(configMap("there", { host: "x", ...(n === 0 ? { once: "1" } : { a: `${n}` }) }));
    const manager = `--field-manager=janus-v${n}-${randomUUID()}`;
    const args = ["apply", "-n", namespace, "--server-side", "--force-conflicts", manager, "-f", "-"];
    expect(await kubectlWith({ stdin }, ...args)).toMatchObject({ code: 0 });
  }
};

const appliers = async ({ read }: Workspace): Promise<readonly string[]> =>
  ((await read(there)).metadata.managedFields ?? []).flatMap(({ operation, manager = "" }) =>
    operation === "Apply" ? [manager] : [],
  );

const ownersOf = async ({ read }: Workspace, key: string): Promise<readonly (string | undefined)[]> =>
  ((await read(there)).metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"f:${key}"`))
    .map(({ manager }) => manager);

it("an object that many Transactions have patched has few of their managers, and each field has its owner", async () => {
  const place = await workspace();
  await patched(place, 25);
  expect(await appliers(place)).toHaveLength(25);
  await place.janus();
  const { status, metadata } = await place.run([patching(configMap("there", { a: "new" }))]);
  expect(status.phase).toBe("Committed");
  expect((await place.read(there))["data"]).toEqual({ a: "new", host: "x", once: "1" });
  expect(await ownersOf(place, "once")).toEqual(["janus"]);
  expect(await ownersOf(place, "a")).toEqual([`janus-txn-${metadata.uid}`]);
  expect((await appliers(place)).length).toBeLessThan(15);
  const left = await place.names("v1", "ConfigMap");
  expect(left.filter((name) => name.includes("rollback"))).toEqual([]);
});

it("is rolled back all the same", async () => {
  const place = await workspace();
  await patched(place, 25);
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last"));
    return next(request);
  });
  const { status } = await place.run([patching(configMap("there", { a: "new" })), creating(configMap("last"))]);
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(there))["data"]).toEqual({ a: "24", host: "x", once: "1" });
  const owners = await ownersOf(place, "a");
  expect(owners).toHaveLength(1);
  expect(owners[0]).toContain("janus-v24-");
  expect((await appliers(place)).length).toBeLessThan(15);
});
