import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type JsonObject, lockLease, REQUEST_ROLLBACK } from "@janus/api";
import { transactions } from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import { leases, type Resource } from "@janus/types";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { compiledProgram } from "../fixtures/image-program.ts";
import { gadgets } from "../fixtures/gadgets.ts";
import { installed, type Installed, type MeasuredReplica } from "../fixtures/installed.ts";
import { isExhaustive, sampled, share, showShare } from "../fixtures/sample.ts";
import { type Samples, samplesOf, total } from "../fixtures/samples.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { phaseOf, submit } from "./crowd.ts";
import { configMaps, CONNECTIONS, create, crds, deployer, must, openNamespace, read, roleBindings } from "./world.ts";

const MiB = 2 ** 20;
/** What the controller may hold resident, whatever is stored. */
const MOST = 250 * MiB;

/** The most that the process ever held resident, in bytes, as the kernel has it. */
const peakOf = async ({ pid }: MeasuredReplica): Promise<number> => {
  const status = await readFile(`/proc/${pid()}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
};

/** One in so many of the ends of a large Transaction: each takes three minutes. */
const ENDS = share({ npmTest: 2, ci: 2 });

let running: MeasuredReplica | undefined;
afterEach(async () => {
  await running?.end();
});

/** It leads, and has listed all Transactions. */
const started = async (name: string): Promise<MeasuredReplica> => {
  const replica = await stage.replica(name);
  running = replica;
  await replica.start();
  const isWatching = async () => (await readFile(replica.logFile, "utf8")).includes("watching Transactions");
  await expect.poll(isWatching, { timeout: 300_000, interval: 200 }).toBe(true);
  return replica;
};

const report: string[] = [];
const says = async (what: string, replica: MeasuredReplica): Promise<number> => {
  const peak = await peakOf(replica);
  report.push(`${what}: ${(peak / MiB).toFixed(0)} MiB resident at most`);
  return peak;
};

let stage: Installed;
beforeAll(async () => {
  stage = await installed([], undefined, await compiledProgram());
}, 300_000);
afterAll(async () => {
  await stage.end();
  console.log(["", "Memory:", ...report].join("\n  "));
}, 60_000);

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const text = (bytes: number, n: number): string => `${n} `.padEnd(bytes, "x");

const large = (name: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", name });

const creates = (count: number, also: JsonObject = {}): readonly JsonObject[] =>
  ["a", ...numbers(count - 1).map((n) => `b-${n}`)].map((name) => ({
    type: "Create",
    target: large(name),
    content: { data: {} },
    ...also,
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

/** A kind with any fields, of a namespace's own. */
const gadgetsOf = (namespace: string): Resource => ({
  group: `${namespace}.example.com`,
  version: "v1",
  plural: "gadgets",
  kind: "Gadget",
  namespaced: true,
  statusSubresource: false,
});

/** Objects of less than 1 MiB, of as many parts as have room in it; each is another one for another value. */
const WIDE: Readonly<Record<string, (value: number) => JsonObject>> = {
  "400,000 numbers in a list": (value) => ({ list: Array.from({ length: 400_000 }, () => value) }),
  "100,000 empty objects in a list": (value) => ({ value, list: Array.from({ length: 100_000 }, () => ({})) }),
  "30,000 fields": (value) => ({ map: Object.fromEntries(numbers(30_000).map((n) => [`n-${n}`, value])) }),
  "300,000 numbers 300 levels deep": (value) =>
    numbers(300).reduce<JsonObject>((inner) => ({ level: inner }), {
      list: Array.from({ length: 300_000 }, () => value),
    }),
};

/** What is done to them. A Draft shows it, and a Transaction does it, and rolls it back. */
const wideChange = (n: number, target: JsonObject, spec: JsonObject): JsonObject => {
  if (n % 3 === 2) return { type: "Delete", target };
  return { type: n % 3 === 0 ? "Patch" : "Update", target, content: { spec }, waitFor: ["cel=self.spec.size() > 0"] };
};

/** In CI only the first: to write the status of 500 changes so often takes the API server more than ten minutes. */
const tried = process.env["CI"] === undefined || isExhaustive ? hoards : hoards.slice(0, 1);

/** Every Transaction of a namespace has come to this phase. */
const all = async (namespaces: readonly string[], phase: string): Promise<void> => {
  const phases = () =>
    Promise.all(
      namespaces.map(async (namespace) => {
        const object = await read(stage.api, transactions, namespace, "large");
        return object === undefined ? "none" : phaseOf(object);
      }),
    );
  await expect.poll(phases, { timeout: 500_000, interval: 1000 }).toEqual(namespaces.map(() => phase));
};

describe("the memory of the controller is bounded", { timeout: 600_000 }, () => {
  it("at rest", async () => {
    const replica = await started("rest");
    expect(await says("nothing stored", replica)).toBeLessThan(MOST);
  });

  it("where it starts with 300 finished Transactions of 0.95 MB each", async () => {
    const { api } = stage;
    await openNamespace(api, "stored");
    const status = { phase: "Committed", version: 1, conditions: [], items: [] };
    await sideBySide(CONNECTIONS / 4, numbers(300), async (n) => {
      const target: JsonObject = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
      const name = `stored-${n}`;
      await submit(api, "stored", name, [{ type: "Create", target, content: { data: { a: text(950_000, n) } } }]);
      const to = { resource: transactions, namespace: "stored", name, subresource: "status" };
      must(await api.send({ verb: "mergePatch", ...to, body: { status } }));
    });
    const replica = await started("starts");
    expect(await says("300 finished Transactions of 0.95 MB each", replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });

  it.each(sampled(["Committed", "RolledBack"], ENDS))(
    `over a Transaction of 200 targets of 0.9 MB each, until it is %s ${showShare("end", ENDS)}`,
    async (phase) => {
      const { api } = stage;
      const namespace = phase.toLowerCase();
      await openNamespace(api, namespace);
      const names = numbers(200).map((n) => `large-${n}`);
      await sideBySide(CONNECTIONS / 4, names, (name, n) =>
        create(api, configMaps, namespace, { metadata: { name }, data: { theirs: text(900_000, n), ours: "old" } }),
      );
      const patches = names.map((name) => ({
        type: "Patch",
        target: { apiVersion: "v1", kind: "ConfigMap", name },
        content: { data: { ours: "new" } },
      }));
      const replica = await started(namespace);
      await submit(api, namespace, "large", patches);
      const seen = async (): Promise<string> => {
        const object = await read(api, transactions, namespace, "large");
        return object === undefined ? "none" : phaseOf(object);
      };
      const goesBack = phase === "RolledBack";
      await expect.poll(seen, { timeout: 500_000, interval: 50 }).toBe(goesBack ? "Committing" : phase);
      const body = { metadata: { annotations: goesBack ? { [REQUEST_ROLLBACK]: "" } : {} } };
      must(await api.send({ verb: "mergePatch", resource: transactions, namespace, name: "large", body }));
      await expect.poll(seen, { timeout: 500_000, interval: 500 }).toBe(phase);
      const first = await read(api, configMaps, namespace, "large-0");
      expect(first?.["data"]).toMatchObject({ ours: phase === "Committed" ? "new" : "old" });
      expect(await says(`200 targets of 0.9 MB each, ${phase}`, replica)).toBeLessThan(MOST);
      expect(replica.falls()).toBe(0);
    },
  );

  it("over 24 Transactions of 0.9 MB each, all at once", async () => {
    const { api } = stage;
    const namespaces = numbers(24).map((n) => `whole-${n}`);
    for (const namespace of namespaces) {
      await openNamespace(api, namespace);
      const content = { data: { a: text(900_000, 0) } };
      await submit(api, namespace, "large", [{ type: "Create", target: large("a"), content }]);
    }
    const replica = await started("whole");
    await all(namespaces, "Committed");
    expect(await says("24 Transactions of 0.9 MB each, all at once", replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });

  it("over 16 Transactions of 12 targets of 0.9 MB each, all at once", async () => {
    const { api } = stage;
    const namespaces = numbers(16).map((n) => `targets-${n}`);
    const names = numbers(12).map((n) => `large-${n}`);
    await sideBySide(4, namespaces, async (namespace) => {
      await openNamespace(api, namespace);
      for (const [n, name] of names.entries())
        await create(api, configMaps, namespace, {
          metadata: { name },
          data: { theirs: text(900_000, n), ours: "old" },
        });
      const patches = names.map((name) => ({ type: "Patch", target: large(name), content: { data: { ours: "new" } } }));
      await submit(api, namespace, "large", patches);
    });
    const replica = await started("targets");
    await all(namespaces, "Committed");
    expect(await says("16 Transactions of 12 targets of 0.9 MB each, all at once", replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });

  it.each(Object.entries(WIDE).map(([what, specOf], n) => [what, n, specOf] as const))(
    "over targets of %s: Drafts, changes and rollbacks",
    async (what, n, specOf) => {
      const { api } = stage;
      const namespace = `wide-${n}`;
      const resource = gadgetsOf(namespace);
      await create(api, crds, "", gadgets(namespace));
      await openNamespace(api, namespace);
      await create(api, roleBindings, namespace, {
        metadata: { name: "everything" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", name: deployer, namespace }],
      });
      const names = ["a", "b", "c"];
      const isServed = async () => E.isRight(await api.send({ verb: "list", resource, namespace }));
      await expect.poll(isServed, { timeout: 20_000 }).toBe(true);
      for (const name of names) await create(api, resource, namespace, { metadata: { name }, spec: specOf(1) });
      const replica = await started(namespace);
      for (const [at, name] of names.entries()) {
        const target = { apiVersion: `${resource.group}/v1`, kind: resource.kind, name };
        const changes = [wideChange(at, target, specOf(2))];
        await submit(api, namespace, `draft-${name}`, changes, { lifecycle: "Draft" });
        await submit(api, namespace, name, changes, { rollbackWindow: "1h" });
      }
      const statusOf = async (name: string): Promise<JsonObject> =>
        (await read(api, transactions, namespace, name))?.["status"] as JsonObject;
      for (const name of names) {
        const waiting = { timeout: 120_000, interval: 1000 };
        await expect.poll(() => statusOf(name), waiting).toMatchObject({ phase: "Committed" });
        await expect.poll(() => statusOf(`draft-${name}`), waiting).toHaveProperty("render");
        const body = { metadata: { annotations: { [REQUEST_ROLLBACK]: "" } } };
        must(await api.send({ verb: "mergePatch", resource: transactions, namespace, name, body }));
        await expect.poll(() => statusOf(name), waiting).toMatchObject({ phase: "RolledBack" });
      }
      expect(await says(`targets of ${what}`, replica)).toBeLessThan(MOST);
      expect(replica.falls()).toBe(0);
    },
  );

  it("where 20 Transactions name 250 kinds each that are not served", async () => {
    const { api } = stage;
    const namespaces = numbers(20).map((n) => `invented-${n}`);
    await sideBySide(4, namespaces, async (namespace, at) => {
      await openNamespace(api, namespace);
      const invented = numbers(250).map((n) => ({
        type: "Delete",
        target: { apiVersion: `invented-${at}-${n}.example.com/v1`, kind: `Invented${n}`, name: "a" },
      }));
      await submit(api, namespace, "large", invented);
    });
    const replica = await started("invented");
    await all(namespaces, "Failed");
    expect(await says("20 Transactions of 250 kinds each that nobody serves", replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });

  // Each is written three times before it waits, with its 500 items: that alone takes minutes.
  it.each(tried)("where $what wait for a lock that nobody releases", { timeout: 1_200_000 }, async (hoard) => {
    const { what, count, changes, metadata, isComplete } = hoard;
    const { api } = stage;
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
    await submit(api, beside, "large", [{ type: "Create", target: large("a"), content: { data: {} } }]);
    await all([beside], "Committed");
    expect(await says(`${what} that wait for a lock`, replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
    await replica.end();
    await sideBySide(CONNECTIONS / 4, names, async (name) => {
      const to = { resource: transactions, namespace, name };
      must(await api.send({ verb: "mergePatch", ...to, body: { metadata: { finalizers: null } } }));
      must(await api.send({ verb: "delete", ...to }));
    });
  });
});
