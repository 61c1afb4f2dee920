import { expect, it } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneServiceIsFree, oneTooMany } from "../fixtures/quota.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

/** 253 characters, as many as a name may have, with a dot where one might cut. */
const longest = (first: string): string => `${first.padEnd(199, "x")}.${"y".repeat(53)}`;

it("takes the longest names that Kubernetes knows, with dots in them", async () => {
  const place = await workspace();
  const [name, target] = [longest("txn"), longest("config")];
  expect([name.length, target.length]).toEqual([253, 253]);
  await place.create(configMap(target, { a: "1" }));
  await allowOneService(place);
  const running = await place.janus();
  const { status } = await place.run([patching(configMap(target, { a: "2" })), ...oneTooMany], { name });
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(configMap(target)))["data"]).toEqual({ a: "1" });
  await running.stop();
  expect((await eventsOf(place.namespace, name)).map(({ reason }) => reason)).toContain("ItemRolledBack");
});

it("keeps Transactions apart whose names differ only at their ends", async () => {
  const place = await workspace();
  await place.create(configMap("a", { by: "nobody" }), configMap("b", { by: "nobody" }));
  await allowOneService(place);
  await place.janus();
  const names = ["x", "y"].map((end) => `${"n".repeat(60)}.${"m".repeat(180)}.${end}`);
  for (const [n, name] of names.entries()) {
    const { status } = await place.run([patching(configMap(n === 0 ? "a" : "b", { by: name })), ...oneTooMany], {
      name,
    });
    expect(status.phase).toBe("RolledBack");
    expect(status.snapshots).toHaveLength(1);
    await oneServiceIsFree(place);
  }
  const stores = (await place.names("v1", "ConfigMap")).filter((name) => name.includes("rollback"));
  expect(stores).toHaveLength(2);
});

it("can be created again under its name at once, though the snapshots of its former self may still be there", async () => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1" }));
  await allowOneService(place);
  await place.janus();
  for (let times = 0; times < 3; times += 1) {
    const { status } = await place.run([patching(configMap("config", { a: "2" })), ...oneTooMany]);
    expect(status.conditions.find(({ type }) => type === "RolledBack")).toMatchObject({ status: "True" });
    await place.remove(transaction("txn"));
    await oneServiceIsFree(place);
  }
});

it("can be created again under its name after it was deleted while it was Committing", async () => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1" }), configMap("other"));
  const { hook, reached, open } = gate(isChangeOf("other"));
  await place.janus(hook);
  const changes = [
    patching(configMap("config", { a: "2" })),
    deleting(configMap("other")),
    creating(configMap("last")),
  ];
  await place.submit(changes);
  await reached;
  await place.remove(transaction("txn"));
  await place.seen();
  open();
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  const orphan = await place.read(configMap("txn-rollback"));
  const { status } = await place.run([patching(configMap("config", { a: "3" }))]);
  expect(status.phase).toBe("Committed");
  expect(await place.read(configMap("txn-rollback"))).toEqual(orphan);
});

it("takes keys that mean something to JavaScript", async () => {
  const place = await workspace();
  const odd = JSON.parse('{"__proto__": "1", "constructor": "1", "toString": "1"}') as Record<string, string>;
  await place.create({ ...configMap("config"), data: odd });
  await allowOneService(place);
  const before = await place.read(configMap("config"));
  await place.janus();
  const change = JSON.parse('{"__proto__": "2", "constructor": "2"}') as Record<string, string>;
  const { status } = await place.run([
    patching(configMap("config", change)),
    creating(configMap("constructor", odd)),
    ...oneTooMany,
  ]);
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(configMap("config")))["data"]).toEqual(before["data"]);
});
