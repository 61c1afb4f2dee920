import { type JsonObject, REQUEST_ROLLBACK, transactions } from "@janus/api";
import type { Resource } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { gadgets } from "../fixtures/gadgets.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { controllerMemory, MOST, numbers } from "./controller-memory.ts";
import { submit } from "./crowd.ts";
import { crds, create, deployer, must, openNamespace, read, roleBindings } from "./world.ts";

const memory = controllerMemory();

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

/** One in so many of them: each takes two minutes. */
const SHAPES = share({ npmTest: 4, ci: 4 });

/** What is done to them. A Draft shows it, and a Transaction does it, and rolls it back. */
const wideChange = (n: number, target: JsonObject, spec: JsonObject): JsonObject => {
  if (n % 3 === 2) return { type: "Delete", target };
  return { type: n % 3 === 0 ? "Patch" : "Update", target, content: { spec }, waitFor: ["cel=self.spec.size() > 0"] };
};

describe("the memory of the controller is bounded", { timeout: 3_600_000 }, () => {
  it.each(
    sampled(
      Object.entries(WIDE).map(([what, specOf], n) => [what, n, specOf] as const),
      SHAPES,
    ),
  )(`over targets of %s: Drafts, changes and rollbacks${showShare("shape", SHAPES)}`, async (what, n, specOf) => {
    const { api, started, peakOver } = memory();
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
    await expect.poll(isServed).toBe(true);
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
      // Each takes half a minute of both cores.
      const waiting = { timeout: 1_200_000, interval: 1000 };
      await expect.poll(() => statusOf(name), waiting).toMatchObject({ phase: "Committed" });
      await expect.poll(() => statusOf(`draft-${name}`), waiting).toHaveProperty("render");
      const body = { metadata: { annotations: { [REQUEST_ROLLBACK]: "" } } };
      must(await api.send({ verb: "mergePatch", resource: transactions, namespace, name, body }));
      await expect.poll(() => statusOf(name), waiting).toMatchObject({ phase: "RolledBack" });
    }
    expect(await peakOver(`targets of ${what}`, replica)).toBeLessThan(MOST);
    expect(replica.falls()).toBe(0);
  });
});
