import type { Change, Transaction } from "@janus/api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMaps, secrets } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import {
  contentOf,
  type Difference,
  differences as differencesOf,
} from "../../../packages/controller/src/core/preflight/differences.ts";
import { approvalDigest } from "../../../packages/controller/src/core/preflight/digest.ts";
import { dryRunResult, hashOf } from "../../../packages/controller/src/core/preflight/dry-run-result.ts";
import { noObservations, type Observations } from "../../../packages/controller/src/core/state/observations.ts";
import { itemsOf } from "../../../packages/controller/src/core/state/resolved-changes.ts";
import { equal, type Json, type JsonObject, type KubeObject } from "@janus/types";
import { arbitraryJson } from "./arbitrary-json.ts";
import { transaction } from "./transaction.ts";
import { seen } from "./underway.ts";

const target = { apiVersion: "v1", kind: "ConfigMap", name: "config" };
const live: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "config", namespace: "shop", uid: "u", resourceVersion: "1", labels: { app: "a" } },
  data: { value: "old", other: "x" },
};

type Live = Omit<KubeObject, "metadata"> & { readonly metadata: object };

const made = ({ metadata, ...rest }: Live, more: JsonObject = {}): KubeObject =>
  ({ ...rest, metadata: { ...live.metadata, ...metadata }, ...more }) as KubeObject;

const patched = (before: KubeObject, data: JsonObject): KubeObject => ({
  ...before,
  data: { ...(before["data"] as JsonObject), ...data },
});

/** The digest of one change, tried against a target. */
const digest = (
  change: Change,
  before: KubeObject | undefined,
  after: KubeObject,
  spec: Partial<Transaction["spec"]> = {},
  isHidden = false,
): string => {
  const base = transaction([change]);
  const txn: Transaction = { ...base, spec: { ...base.spec, ...spec } };
  const known: Observations = {
    ...noObservations(0),
    resources: new Map([
      ["v1/ConfigMap", configMaps],
      ["v1/Secret", secrets],
    ]),
  };
  const [item] = itemsOf(txn, known);
  if (item === undefined) throw new Error("the change has no place");
  return approvalDigest(txn, {
    ...known,
    changes: new Map([
      [
        0,
        {
          target: seen(before),
          preflight: {
            trial: {
              of: before?.metadata.resourceVersion,
              problems: [],
              shown: dryRunResult(item, before, after, isHidden),
            },
          },
        },
      ],
    ]),
  });
};

const patch: Change = { type: "Patch", target, content: { data: { value: "new" } } };
const creation: Change = { type: "Create", target, content: { data: { value: "new" } } };
const deletion: Change = { type: "Delete", target };
const update: Change = { type: "Update", target, content: { data: { value: "new" } } };
const patching = (before: KubeObject): string => digest(patch, before, patched(before, { value: "new" }));

describe("the digest of a render stays the same", () => {
  it.each<[string, () => string]>([
    ["at another resourceVersion of the target", () => patching(made({ ...live, metadata: { resourceVersion: "9" } }))],
    ["in another generation of it", () => patching(made({ ...live, metadata: { generation: 9 } }))],
    ["when another status is in it", () => patching(made(live, { status: { phase: "Other" } }))],
    [
      "when others have written it",
      () => patching(made({ ...live, metadata: { managedFields: [{ manager: "kubectl" }] } })),
    ],
    ["when it was created again", () => patching(made({ ...live, metadata: { uid: "v", creationTimestamp: "now" } }))],
    ["when another field has changed", () => patching(patched(live, { other: "y" }))],
    ["when its labels have changed", () => patching(made({ ...live, metadata: { labels: { app: "b" } } }))],
    ["when it is proposed", () => digest(patch, live, patched(live, { value: "new" }), { lifecycle: "Proposed" })],
    ["when it is kept for longer", () => digest(patch, live, patched(live, { value: "new" }), { draftTTL: 60_000 })],
    [
      "when it is approved",
      () =>
        digest(patch, live, patched(live, { value: "new" }), { lifecycle: "Published", approvedDigest: "sha256:a" }),
    ],
  ])("%s", (_, again) => {
    expect(again()).toBe(digest(patch, live, patched(live, { value: "new" }), { lifecycle: "Draft" }));
  });

  it("of a Create, whatever the API server chooses at each dry run", () => {
    expect(digest(creation, undefined, made(live, { clusterIP: "10.0.0.1" }))).toBe(
      digest(creation, undefined, made(live, { clusterIP: "10.0.0.2" })),
    );
  });

  it("of a Delete, when only the status of the target has changed", () => {
    const later = made({ ...live, metadata: { resourceVersion: "9", generation: 3 } }, { status: { a: 1 } });
    expect(digest(deletion, live, live)).toBe(digest(deletion, later, later));
  });
});

describe("the digest of a render becomes another one", () => {
  const usual = patching(live);
  it.each<[string, () => string]>([
    ["when the field that is changed has another value", () => patching(patched(live, { value: "else" }))],
    ["when it has the new value already", () => patching(patched(live, { value: "new" }))],
    ["when a webhook sets another field", () => digest(patch, live, patched(live, { value: "new", more: "1" }))],
    ["when another value is set", () => digest({ ...patch, content: {} }, live, patched(live, { value: "new" }))],
    [
      "with another ServiceAccount",
      () => digest(patch, live, patched(live, { value: "new" }), { serviceAccountName: "b" }),
    ],
    ["with another timeout", () => digest(patch, live, patched(live, { value: "new" }), { timeout: 5 })],
    ["with gates", () => digest(patch, live, patched(live, { value: "new" }), { waitFor: [] })],
    ["as an Update", () => digest(update, live, patched(live, { value: "new" }))],
    [
      "of a target of another name",
      () => digest({ ...patch, target: { ...target, name: "b" } }, live, patched(live, { value: "new" })),
    ],
  ])("%s", (_, other) => {
    expect(other()).not.toBe(usual);
  });

  it.each<[string, KubeObject]>([
    ["its content", patched(live, { other: "y" })],
    ["its labels", made({ ...live, metadata: { labels: { app: "b" } } })],
    ["its uid", made({ ...live, metadata: { uid: "v" } })],
  ])("of a Delete, when the target is another one by %s", (_, other) => {
    expect(digest(deletion, other, other)).not.toBe(digest(deletion, live, live));
  });
});

const tried = (before: KubeObject): string => digest(patch, before, patched(before, { value: "new" }), {}, true);

describe("the digest of what is sensitive", () => {
  it("depends on the uid and the resourceVersion of the target, and on none of its values", () => {
    expect(tried(patched(live, { value: "else" }))).toBe(tried(live));
    expect(tried(made({ ...live, metadata: { resourceVersion: "9" } }))).not.toBe(tried(live));
    expect(tried(made({ ...live, metadata: { uid: "v" } }))).not.toBe(tried(live));
  });

  it("shows no value, and that of an object that is deleted not even hashed", () => {
    const [item] = itemsOf(transaction([patch]), {
      ...noObservations(0),
      resources: new Map([["v1/ConfigMap", configMaps]]),
    });
    if (item === undefined) throw new Error("the change has no place");
    const shown = dryRunResult(item, patched(live, { value: "s3cret" }), patched(live, { value: "t0p" }), true);
    expect(JSON.stringify(shown)).not.toMatch(/s3cret|t0p/u);
    expect(shown.diff).toEqual([{ path: ".data.value", before: "(changed)", after: "(changed)" }]);
  });
});

describe("the hash of what a dry run shows", () => {
  it("is that of the list of all its differences, though that list is never made", () => {
    const data = fc.dictionary(fc.string(), arbitraryJson, { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(data, data, (a, b) => {
        const [before, after] = [made(live, { data: a }), made(live, { data: b })];
        const found = differences({ data: a }, { data: b });
        expect(shownOf(before, after).hash).toBe(
          hashOf([
            ["", "configmaps", "shop", "config"],
            found.length === 0 ? "NoChange" : "Change",
            found.map((one) => [one.path, one.before, one.after]),
          ]),
        );
      }),
    );
  });
});

describe("what a change of a status shows", () => {
  it.each([
    ["as any other field where it is no subresource", false, "Change", ["owner"]],
    ["nothing where it is one", true, "NoChange", []],
  ])("%s", (_, statusSubresource, result, fields) => {
    const [item] = itemsOf(transaction([patch]), {
      ...noObservations(0),
      resources: new Map([["v1/ConfigMap", { ...configMaps, statusSubresource }]]),
    });
    if (item === undefined) throw new Error("the change has no place");
    const tried = dryRunResult(
      item,
      made(live, { status: { owner: "a" } }),
      made(live, { status: { owner: "b" } }),
      false,
    );
    expect(tried).toMatchObject({
      result,
      diff: fields.map((name) => ({ path: `.status.${name}`, before: '"a"', after: '"b"' })),
    });
  });
});

/** What a dry run of the patch shows of a target. */
const shownOf = (before: KubeObject, after: KubeObject): ReturnType<typeof dryRunResult> => {
  const resources = new Map([["v1/ConfigMap", configMaps]]);
  const [item] = itemsOf(transaction([patch]), { ...noObservations(0), resources });
  if (item === undefined) throw new Error("the change has no place");
  return dryRunResult(item, before, after, false);
};

describe("what a render shows", () => {
  const long = "# a line of a file\n".repeat(50);
  it.each<[string, string, string, string, string]>([
    ["from its line on", `${long}allow none\n`, `${long}allow all\n`, '…"allow none\\n"', '…"allow all\\n"'],
    [
      "where that is long, shortly before it",
      `${"x".repeat(999)}a`,
      `${"x".repeat(999)}b`,
      `…"${"x".repeat(60)}a"`,
      `…"${"x".repeat(60)}b"`,
    ],
    [
      "whole characters of it",
      `${"🎂".repeat(500)}a`,
      `${"🎂".repeat(500)}b`,
      `…"${"🎂".repeat(30)}a"`,
      `…"${"🎂".repeat(30)}b"`,
    ],
    ["and its end, where only the other goes on", long, `${long}allow all\n`, '…""', '…"allow all\\n"'],
  ])("has of a long text where it differs: %s", (_, before, after, thenShown, nowShown) => {
    expect(shownOf(patched(live, { value: before }), patched(live, { value: after })).diff).toEqual([
      { path: ".data.value", before: thenShown, after: nowShown },
    ]);
  });
});

/** All of them. */
const differences = (before: Json | undefined, after: Json | undefined): readonly Difference[] => [
  ...differencesOf(before, after),
];

const pod = (image: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", resourceVersion, annotations: { "a.b/c": resourceVersion } },
  spec: { containers: [{ name: "log", image: "log" }, ...(image === "" ? [] : [{ name: "web", image }])] },
  status: { phase: resourceVersion },
});

const steps = (image: string, ...names: readonly string[]): JsonObject => ({
  steps: names.map((name) => ({ name, image })),
});

/** An object in others, under this name so many times. */
const below = (levels: number, name: string, inner: JsonObject): JsonObject =>
  Array.from({ length: levels }).reduce<JsonObject>((object) => ({ [name]: object }), inner);

describe("the differences of two objects", () => {
  it("are none exactly if they are equal", () => {
    fc.assert(
      fc.property(arbitraryJson, arbitraryJson, (a, b) => {
        expect(differences(a, b).length === 0).toBe(equal(a, b));
        expect(differences(a, structuredClone(a))).toEqual([]);
      }),
    );
  });

  it("name each field once, and are the other way round the other way round", () => {
    fc.assert(
      fc.property(arbitraryJson, arbitraryJson, (a, b) => {
        const found = differences(a, b);
        expect(new Set(found.map(({ path }) => path)).size).toBe(found.length);
        const back = new Map(differences(b, a).map((one) => [one.path, one]));
        for (const { path, before, after } of found)
          expect([path, back.get(path)?.after, back.get(path)?.before]).toEqual([path, before, after]);
      }),
    );
  });

  it("name containers by their names, and what the API server writes itself not at all", () => {
    expect(differences(contentOf(pod("web:1", "1")), contentOf(pod("web:2", "2")))).toEqual([
      { path: '.metadata.annotations["a.b/c"]', before: "1", after: "2" },
      { path: '.spec.containers[name="web"].image', before: "web:1", after: "web:2" },
    ]);
    expect(differences(contentOf(pod("", "1")), contentOf(pod("web:2", "1")))).toEqual([
      { path: '.spec.containers[name="web"].image', after: "web:2" },
      { path: '.spec.containers[name="web"].name', after: "web" },
    ]);
  });

  it("name each field once also far below, with paths that do not grow with the depth", () => {
    const [old, now] = ["old", "new"].map((value) =>
      below(400, "a-long-name-of-a-field", { a: value, b: [value, value], c: "same" }),
    );
    const found = differences(old, now);
    expect(found.map(({ before, after }) => [before, after])).toEqual([1, 2, 3].map(() => ["old", "new"]));
    expect(new Set(found.map(({ path }) => path)).size).toBe(3);
    for (const { path } of found) {
      expect(path.startsWith(".a-long-name-of-a-field.a-long-name-of-a-field")).toBe(true);
      expect(path.length).toBeLessThan(600);
    }
  });

  it("are found one by one, so that the first is known before the others are looked at", () => {
    let looked = 0;
    const item = (): JsonObject => ({
      get value() {
        looked += 1;
        return looked;
      },
    });
    const items = Array.from({ length: 1000 }, item);
    const [first] = differencesOf({ items }, { items: [] });
    expect(first?.path).toBe(".items[0].value");
    expect(looked).toBe(1);
  });

  it("show that elements with names change places, whatever else changes of them", () => {
    const changed = differences(steps("a:1", "migrate", "seed"), steps("a:2", "seed", "migrate"));
    expect(changed.map(({ path, before, after }) => [path, before, after])).toContainEqual([
      ".steps[0].name",
      "migrate",
      "seed",
    ]);
    expect(differences(steps("a:1", "migrate", "seed"), steps("a:1", "first", "migrate", "more", "seed"))).toEqual(
      ["first", "more"].flatMap((name) =>
        [["image", "a:1"] as const, ["name", name] as const].map(([field, after]) => ({
          path: `.steps[name="${name}"].${field}`,
          after,
        })),
      ),
    );
  });
});
