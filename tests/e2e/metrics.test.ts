import { expect, it } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
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

const counts = (metrics: ReadonlyMap<string, number>) =>
  [...metrics.keys()].filter((name) => name.startsWith("janus_transactions_active"));

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
  expect(transitions("Preparing", "Failed")).toBe(1);
  expect(transitions("Preparing", "Committing")).toBe(2);
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
  expect(seen.get("janus_lock_wait_seconds_count")).toBe(3);
  expect(seen.get("janus_rollback_conflicts_total")).toBe(0);

  const help = (await metrics()).split("\n").filter((line) => line.startsWith("# TYPE"));
  expect(help.toSorted()).toEqual([
    "# TYPE janus_item_operations_total counter",
    "# TYPE janus_lock_operations_total counter",
    "# TYPE janus_lock_wait_seconds histogram",
    "# TYPE janus_queue_depth gauge",
    "# TYPE janus_queue_wait_seconds histogram",
    "# TYPE janus_rollback_conflicts_total counter",
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

it("shows how long Transactions waited for their locks, and for a worker", async () => {
  const place = await workspace();
  const { hook, reached, open } = gate(isChangeOf("shared"));
  const { metrics } = await place.janus(hook);
  await place.create(configMap("shared", { n: "0" }));
  await place.submit([patching(configMap("shared", { n: "1" }))], { name: "first" });
  await reached;
  await place.submit([patching(configMap("shared", { n: "2" }))], { name: "second" });
  const isWaiting = async () => JSON.stringify(await eventsOf(place.namespace, "second")).includes("LockWaiting");
  await expect.poll(isWaiting).toBe(true);
  expect(samples(await metrics()).get("janus_lock_wait_seconds_count")).toBe(1);
  open();
  await Promise.all([place.over("first"), place.over("second")]);
  const seen = samples(await metrics());
  expect(seen.get("janus_lock_wait_seconds_count")).toBe(2);
  expect(seen.get("janus_lock_wait_seconds_sum")).toBeGreaterThan(0);
  expect(seen.get("janus_queue_wait_seconds_count")).toBeGreaterThanOrEqual(2);
  expect(seen.get("janus_queue_depth")).toBe(0);
});

it("counts what it does not roll back because another client has modified it since", async () => {
  const place = await workspace();
  await place.create(configMap("kept", { a: "1" }));
  await allowOneService(place);
  const { metrics } = await place.janus(async (request, next) => {
    const answer = await next(request);
    if (isChangeOf("kept")(request)) await place.patch(configMap("kept", { a: "somebody's" }));
    return answer;
  });
  const { status } = await place.run([patching(configMap("kept", { a: "2" })), ...oneTooMany]);
  expect(status.phase).toBe("Failed");
  expect(samples(await metrics()).get("janus_rollback_conflicts_total")).toBe(1);
  await expect
    .poll(async () => (await eventsOf(place.namespace, "txn")).map(({ reason, message }) => `${reason}: ${message}`))
    .toContainEqual(
      expect.stringMatching(
        /^ConflictDetected: Patch ConfigMap .*\/kept was not rolled back: .*was modified by field manager "somebody" since: not restored/,
      ),
    );
});

it("is right after a restart, and shows nothing before it knows", async () => {
  const place = await workspace();
  const held = gate(({ purpose }) => purpose === "change");
  const first = await place.janus(held.hook);
  await place.submit([creating(configMap("a"))]);
  await held.reached;

  const listing = gate(({ verb, purpose }) => verb === "list" && purpose === "reflect");
  const again = gate(({ purpose }) => purpose === "change");
  const second = await place.janus(listing.hook, again.hook);
  const active = async () =>
    (await second.metrics()).split("\n").filter((line) => line.startsWith("janus_transactions_active{"));
  await listing.reached;
  expect(await active()).toEqual([]);
  listing.open();
  await expect.poll(active).toEqual(
    ["Pending 0", "Preparing 0", "Prepared 0", "Committing 1", "RollingBack 0"].map((text) => {
      const [phase = "", count = ""] = text.split(" ");
      return `janus_transactions_active{phase="${phase}"} ${count}`;
    }),
  );
  held.open();
  await first.stop();
  again.open();
  await place.over();
  await expect.poll(async () => (await active()).filter((line) => !line.endsWith(" 0"))).toEqual([]);
});

it("has no names of objects in it, whatever becomes of them", async () => {
  const place = await workspace();
  await allowOneService(place);
  const { metrics } = await place.janus();
  await Promise.all(
    Array.from({ length: 5 }, (_, n) => place.run([creating(configMap(`made-${n}`))], { name: `named-${n}` })),
  );
  const before = samples(await metrics()).size;
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => place.run([creating(configMap(`more-${n}`))], { name: `called-${n}` })),
  );
  const text = await metrics();
  expect(samples(text).size).toBe(before);
  for (const name of [place.namespace, "named-", "called-", "made-", "deployer"]) expect(text).not.toContain(name);
});

it("tells of the process as a whole: its version, who leads, and every request to the API server", async () => {
  const { namespace } = await workspace();
  const replica = () =>
    controllerProcess([
      "--http-port=0",
      `--kubeconfig=${controlPlane.kubeconfig}`,
      `--namespace=${namespace}`,
      `--watch-namespace=${namespace}`,
      "--leader-elect-retry-period=1s",
    ]);
  const seenOf = async ({ url }: ReturnType<typeof replica>) =>
    url() === undefined ? new Map() : samples(await (await fetch(`${url()}/metrics`)).text());
  const leader = replica();
  await expect.poll(async () => (await seenOf(leader)).get("janus_leader_elected")).toBe(1);
  const standby = replica();
  await expect.poll(async () => (await seenOf(standby)).get("janus_leader_changes_total")).toBe(1);
  expect((await seenOf(standby)).get("janus_leader_elected")).toBe(0);

  const seen = await seenOf(leader);
  expect(seen.get('janus_build_info{version="0.1.0"}')).toBe(1);
  const lists = seen.get('janus_api_requests_total{verb="list",code="2xx"}');
  expect(lists).toBeGreaterThanOrEqual(2); // unfinished ones first, and again while it takes long
  expect(seen.get('janus_api_requests_total{verb="create",code="2xx"}')).toBeGreaterThanOrEqual(1);
  expect(seen.get('janus_api_requests_total{verb="get",code="404"}')).toBe(1);
  expect(seen.get('janus_api_request_duration_seconds_count{verb="list"}')).toBe(lists);
  expect(seen.get("process_resident_memory_bytes")).toBeGreaterThan(0);
  // Only the leader counts Transactions, so that the sum over all replicas is right.
  expect(counts(await seenOf(standby))).toEqual([]);
  await expect.poll(async () => counts(await seenOf(leader)).length).toBe(5);
});
