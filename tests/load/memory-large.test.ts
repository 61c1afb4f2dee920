import { REQUEST_ROLLBACK } from "@janus/api";
import { transactions } from "@janus/controller";
import { describe, expect, it } from "vitest";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { configMapNamed, controllerMemory, MOST, numbers, text } from "./controller-memory.ts";
import { submit } from "./crowd.ts";
import { configMaps, CONNECTIONS, create, must, openNamespace, read } from "./world.ts";

/** One in so many of the ends of a large Transaction, and of the crowds of large ones: each takes two minutes. */
const SHARE = share({ npmTest: 2, ci: 2 });

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

/** Each of them in a namespace of its own. */
const CROWDS = [
  {
    what: "24 Transactions of 0.9 MB each",
    size: 24,
    submitTo: async (namespace: string) => {
      const { api } = memory();
      await openNamespace(api, namespace);
      const content = { data: { a: text(900_000, 0) } };
      await submit(api, namespace, "large", [{ type: "Create", target: configMapNamed("a"), content }]);
    },
  },
  {
    what: "16 Transactions of 12 targets of 0.9 MB each",
    size: 16,
    submitTo: async (namespace: string) => {
      await submit(memory().api, namespace, "large", await targets(namespace, 12, 1));
    },
  },
];

describe("the memory of the controller is bounded", { timeout: 600_000 }, () => {
  it.each(sampled(["Committed", "RolledBack"], SHARE))(
    `over a Transaction of 200 targets of 0.9 MB each, until it is %s ${showShare("end", SHARE)}`,
    async (phase) => {
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
      expect(await peakOver(`200 targets of 0.9 MB each, ${phase}`, replica)).toBeLessThan(MOST);
      expect(replica.falls()).toBe(0);
    },
  );

  it.each(sampled(CROWDS, SHARE))(
    `over $what, all at once${showShare("crowd", SHARE)}`,
    async ({ what, size, submitTo }) => {
      const { started, peakOver, allReach } = memory();
      const namespaces = numbers(size).map((n) => `crowd-of-${size}-${n}`);
      await sideBySide(4, namespaces, submitTo);
      const replica = await started(`crowd-of-${size}`);
      await allReach(namespaces, "Committed");
      expect(await peakOver(`${what}, all at once`, replica)).toBeLessThan(MOST);
      expect(replica.falls()).toBe(0);
    },
  );
});
