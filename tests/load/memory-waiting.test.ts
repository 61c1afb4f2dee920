import { setTimeout as sleep } from "node:timers/promises";
import { type JsonObject, lockLease, transactions } from "@janus/api";
import { leases } from "@janus/types";
import { describe, expect, it } from "vitest";
import { isExhaustive } from "../fixtures/sample.ts";
import { type Samples, samplesOf, total } from "../fixtures/samples.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { configMapNamed, controllerMemory, MOST, numbers, text } from "./controller-memory.ts";
import { submit } from "./crowd.ts";
import { CONNECTIONS, create, must, openNamespace } from "./world.ts";

const memory = controllerMemory();

const creates = (count: number): readonly JsonObject[] =>
  ["a", ...numbers(count - 1).map((n) => `b-${n}`)].map((name) => ({
    type: "Create",
    target: configMapNamed(name),
    content: { data: {} },
  }));

/** What an author may have many of. */
interface Hoard {
  readonly what: string;
  readonly count: number;
  readonly changes: readonly JsonObject[];
  readonly metadata: JsonObject;
  /** All are in memory, as far as they are kept there. */
  readonly isComplete: (of: Samples) => boolean;
}

const hoards: readonly Hoard[] = [
  {
    what: "600 Transactions with 250 KB of annotations each",
    count: 600,
    changes: creates(1),
    metadata: { annotations: { long: text(250_000, 0) } },
    // Each was read, and waits for its turn or for the lock.
    isComplete: (of) => total(of, "janus_queue_wait_seconds_count") >= 1200 && total(of, "janus_queue_depth") < 60,
  },
  {
    what: "250 Transactions of 500 changes each",
    count: 250,
    changes: creates(500),
    metadata: {},
    isComplete: (of) => total(of, "janus_transactions_active", { phase: "Preparing" }) === 250,
  },
];

/** In CI only the first: to write the status of 500 changes so often takes the API server more than ten minutes. */
const tried = process.env["CI"] === undefined || isExhaustive ? hoards : hoards.slice(0, 1);

/** The next controller is to meet nothing of it. */
const clear = async (namespace: string, names: readonly string[]): Promise<void> => {
  const { api } = memory();
  await sideBySide(CONNECTIONS / 4, names, async (name) => {
    const to = { resource: transactions, namespace, name };
    must(await api.send({ verb: "mergePatch", ...to, body: { metadata: { finalizers: null } } }));
    must(await api.send({ verb: "delete", ...to }));
  });
};

describe("the memory of the controller is bounded", { timeout: 3_600_000 }, () => {
  it.each(tried)("where $what wait for a lock that nobody releases", async (hoard) => {
    const { what, count, changes, metadata, isComplete } = hoard;
    const { api, started, peakOver, allReach } = memory();
    const [namespace, beside] = [`hoard-${changes.length}`, `beside-${changes.length}`];
    await openNamespace(api, namespace);
    await openNamespace(api, beside);
    await create(api, leases, namespace, {
      metadata: { name: lockLease({ group: "", kind: "ConfigMap", namespace, name: "a" }) },
      spec: { holderIdentity: "somebody", leaseDurationSeconds: 360_000 },
    });
    const names = numbers(count).map((n) => `hoarded-${n}`);
    await sideBySide(CONNECTIONS / 4, names, (name) => submit(api, namespace, name, changes, {}, metadata));
    const replica = await started(namespace);
    while (!isComplete(samplesOf((await replica.metrics()) ?? ""))) {
      expect(replica.falls()).toBe(0);
      await sleep(500);
    }
    await submit(api, beside, "large", [{ type: "Create", target: configMapNamed("a"), content: { data: {} } }]);
    await allReach([beside], "Committed");
    expect(await peakOver(`${what} that wait for a lock`, replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
    await replica.end();
    if (hoard !== tried.at(-1)) await clear(namespace, names);
  });
});
