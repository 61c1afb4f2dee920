import { expect, it } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { gate } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { workspace } from "../fixtures/workspace.ts";

/** Samples by name and labels, such as `janus_transactions_active{phase="Pending"}`. */
const samples = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );

it("counts phases, changes, locks and time of what it does", async () => {
  const place = await workspace();
  await place.create(configMap("patched"), configMap("deleted"));
  await allowOneService(place);
  const { metrics } = await place.janus();
  await place.run(
    [creating(configMap("created")), patching(configMap("patched", { a: "1" })), deleting(configMap("deleted"))],
    { name: "committed" },
  );
  await place.run([patching(configMap("patched", { a: "2" })), ...oneTooMany], { name: "rolled-back" });
  await place.run([deleting(configMap("missing"))], { name: "failed" });

  const seen = samples(await metrics());
  const transitions = (from: string, to: string) =>
    seen.get(`janus_transaction_phase_transitions_total{from_phase="${from}",to_phase="${to}"}`);
  expect(transitions("Pending", "Preparing")).toBe(3);
  expect(transitions("Preparing", "Prepared")).toBe(2);
  expect(transitions("Preparing", "Failed")).toBe(1);
  expect(transitions("Prepared", "Committing")).toBe(2);
  expect(transitions("Committing", "Committed")).toBe(1);
  expect(transitions("Committing", "RollingBack")).toBe(1);
  expect(transitions("RollingBack", "RolledBack")).toBe(1);

  for (const outcome of ["Committed", "RolledBack", "Failed"])
    expect(seen.get(`janus_transaction_duration_seconds_count{outcome="${outcome}"}`)).toBe(1);
  expect(seen.get("janus_transaction_item_count_count")).toBe(3);
  expect(seen.get("janus_transaction_item_count_sum")).toBe(7);

  const items = (operation: string, result: string) =>
    seen.get(`janus_item_operations_total{operation="${operation}",result="${result}"}`);
  expect(items("preflight", "success")).toBe(6);
  expect(items("commit", "success")).toBe(5);
  expect(items("commit", "permanent")).toBe(1);
  expect(items("rollback", "success")).toBeGreaterThanOrEqual(2);

  const locks = (operation: string, result: string) =>
    seen.get(`janus_lock_operations_total{operation="${operation}",result="${result}"}`);
  expect(locks("acquire", "success")).toBe(7);
  expect(locks("release", "success")).toBe(7);

  const help = (await metrics()).split("\n").filter((line) => line.startsWith("# TYPE"));
  expect(help.toSorted()).toEqual([
    "# TYPE janus_item_operations_total counter",
    "# TYPE janus_lock_operations_total counter",
    "# TYPE janus_transaction_duration_seconds histogram",
    "# TYPE janus_transaction_item_count histogram",
    "# TYPE janus_transaction_phase_transitions_total counter",
    "# TYPE janus_transactions_active gauge",
  ]);
});

it("shows how many Transactions are in which phase right now, and forgets those that are over", async () => {
  const place = await workspace();
  const { hook, reached, open } = gate(({ purpose }) => purpose === "change");
  const { metrics } = await place.janus(hook);
  await place.submit([creating(configMap("a"))]);
  await reached;
  const active = async () =>
    (await metrics()).split("\n").filter((line) => /^janus_transactions_active\{.*\} [1-9]/.test(line));
  await expect.poll(active).toEqual(['janus_transactions_active{phase="Committing"} 1']);
  open();
  await place.over();
  await expect.poll(active).toEqual([]);
});
