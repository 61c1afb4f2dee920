import { type JsonObject, transactions } from "@janus/api";
import { describe, expect, it } from "vitest";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { configMapNamed, controllerMemory, MOST, numbers, text } from "./controller-memory.ts";
import { submit } from "./crowd.ts";
import { CONNECTIONS, must, openNamespace } from "./world.ts";

const memory = controllerMemory();

/** `memory-large`, `memory-wide` and `memory-waiting` are of what is worked on. */
describe("the memory of the controller is bounded", { timeout: 3_600_000 }, () => {
  it("at rest", async () => {
    const { started, peakOver } = memory();
    expect(await peakOver("nothing stored", await started("rest"))).toBeLessThan(MOST);
  });

  it("where it starts with 300 finished Transactions of 0.95 MB each", async () => {
    const { api, started, peakOver } = memory();
    await openNamespace(api, "stored");
    const status = { phase: "Committed", version: 1, conditions: [], items: [] };
    await sideBySide(CONNECTIONS / 4, numbers(300), async (n) => {
      const name = `stored-${n}`;
      const content: JsonObject = { data: { a: text(950_000, n) } };
      await submit(api, "stored", name, [{ type: "Create", target: configMapNamed("a"), content }]);
      const to = { resource: transactions, namespace: "stored", name, subresource: "status" };
      must(await api.send({ verb: "mergePatch", ...to, body: { status } }));
    });
    const replica = await started("starts");
    expect(await peakOver("300 finished Transactions of 0.95 MB each", replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });

  it("where 20 Transactions name 250 kinds each that are not served", async () => {
    const { api, started, peakOver, allReach } = memory();
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
    await allReach(namespaces, "Failed");
    expect(await peakOver("20 Transactions of 250 kinds each that nobody serves", replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });
});
