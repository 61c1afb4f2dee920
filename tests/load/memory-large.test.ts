import { REQUEST_ROLLBACK, transactions } from "@janus/api";
import { configMaps } from "@janus/types";
import { describe, expect, it } from "vitest";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { configMapNamed, controllerMemory, MOST, numbers, text } from "./controller-memory.ts";
import { submit } from "./crowd.ts";
import { CONNECTIONS, create, must, openNamespace, read } from "./world.ts";

/** One in so many: each takes two minutes. */
const SHARE = share({ npmTest: 4, ci: 4 });

const memory = controllerMemory();

/** So many large ones, and a change of each of them. */
const targets = async (namespace: string, count: number, atOnce: number) => {
  const { api } = memory();
  await openNamespace(api, namespace);
  const names = numbers(count).map((n) => `large-${n}`);
  await sideBySide(atOnce, names, (name, n) =>
    create(api, configMaps, namespace, { metadata: { name }, data: { theirs: text(900_000, n), ours: "old" } }),
  );
  return names.map((name) => ({
    type: "Patch",
    target: configMapNamed(name),
    content: { data: { ours: "new" } },
  }));
};

/** Runs these all at once, each in a namespace of its own. */
const crowd = async (size: number, what: string, submitTo: (namespace: string) => Promise<unknown>): Promise<void> => {
  const { started, peakOver, allReach } = memory();
  const namespaces = numbers(size).map((n) => `crowd-of-${size}-${n}`);
  await sideBySide(4, namespaces, async (namespace) => void (await submitTo(namespace)));
  const replica = await started(`crowd-of-${size}`);
  await allReach(namespaces, "Committed");
  expect(await peakOver(what, replica)).toBeLessThan(MOST);
  expect(replica.falls()).toBe(0);
};

const large = async (phase: "Committed" | "RolledBack", what: string): Promise<void> => {
  const { api, started, peakOver, allReach } = memory();
  const namespace = phase.toLowerCase();
  const patches = await targets(namespace, 200, CONNECTIONS / 4);
  const replica = await started(namespace);
  await submit(api, namespace, "large", patches);
  if (phase === "RolledBack") {
    await allReach([namespace], "Committing");
    const body = { metadata: { annotations: { [REQUEST_ROLLBACK]: "" } } };
    must(await api.send({ verb: "mergePatch", resource: transactions, namespace, name: "large", body }));
  }
  await allReach([namespace], phase);
  const first = await read(api, configMaps, namespace, "large-0");
  expect(first?.["data"]).toMatchObject({ ours: phase === "Committed" ? "new" : "old" });
  expect(await peakOver(what, replica)).toBeLessThan(MOST);
  expect(replica.falls()).toBe(0);
};

const CASES: readonly (readonly [what: string, measure: (what: string) => Promise<void>])[] = [
  ["a Transaction of 200 targets of 0.9 MB each, until it is Committed", (what) => large("Committed", what)],
  [
    "24 Transactions of 0.9 MB each, all at once",
    (what) =>
      crowd(24, what, async (namespace) => {
        const { api } = memory();
        await openNamespace(api, namespace);
        const content = { data: { a: text(900_000, 0) } };
        await submit(api, namespace, "large", [{ type: "Create", target: configMapNamed("a"), content }]);
      }),
  ],
  [
    "16 Transactions of 12 targets of 0.9 MB each, all at once",
    (what) =>
      crowd(16, what, async (namespace) => submit(memory().api, namespace, "large", await targets(namespace, 12, 1))),
  ],
  ["a Transaction of 200 targets of 0.9 MB each, until it is RolledBack", (what) => large("RolledBack", what)],
];

describe("the memory of the controller is bounded", { timeout: 3_600_000 }, () => {
  it.each(sampled(CASES, SHARE))(`over %s${showShare("case", SHARE)}`, async (what, measure) => {
    await measure(what);
    expect.hasAssertions();
  });
});
