import type { SnapshotStore } from "@janus/api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMaps, secrets } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import {
  digestOfStore,
  openStore,
  type Pack,
  pack,
  snapshotKey,
  storeBody,
  storePlace,
  unpack,
} from "../../../packages/controller/src/core/snapshots/snapshot-data.ts";
import { arbitraryObject } from "./arbitrary-json.ts";
import { transaction, UID } from "./transaction.ts";
import { equal, type KubeObject } from "@janus/types";

const KIB = 1024;
const txn = transaction([{ type: "Delete", target: { apiVersion: "v1", kind: "Secret", name: "gone" } }]);

const configMap = (data: object, resourceVersion = "1"): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "cm", resourceVersion },
  data,
});
const secret = (data: object): KubeObject => ({ ...configMap(data), kind: "Secret" });

const kubeObject: fc.Arbitrary<KubeObject> = fc
  .tuple(arbitraryObject, fc.constantFrom("Secret", "ConfigMap", "Deployment"), fc.nat())
  .map(([fields, kind, version]) => ({
    ...fields,
    apiVersion: "v1",
    kind,
    metadata: { name: "x", resourceVersion: `${version}` },
  }));

const bytes = ({ data }: Pack): number =>
  [...data.values()].reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/** The store as the API server has it, once written. */
const written = (packed: Pack, n = 0): { readonly ref: SnapshotStore; readonly object: KubeObject } => {
  const body = storeBody(txn, n, packed) as KubeObject & { readonly stringData?: Record<string, string> };
  const { stringData, ...rest } = body;
  const uid = `store-${n}`;
  return {
    ref: { kind: packed.kind, name: body.metadata.name ?? "", uid, digest: digestOfStore(packed.data) },
    object: {
      ...rest,
      metadata: { ...body.metadata, uid },
      ...(stringData === undefined
        ? {}
        : { data: Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, base64(text)])) }),
    },
  };
};

/** What comes back from the stores, after they were written and read again. */
const back = (snapshots: ReadonlyMap<number, KubeObject>) => {
  const opened = pack(snapshots).packs.map((one, n) => {
    const { ref, object } = written(one, n);
    const data = openStore(ref, object);
    return "data" in data ? data.data : new Map<string, string>();
  });
  return new Map([...snapshots].map(([index, object]) => [index, unpack(snapshotKey(index, object), opened)]));
};

describe("snapshots", () => {
  it("come back from their stores as they were", () => {
    fc.assert(
      fc.property(fc.array(kubeObject, { maxLength: 4 }), (objects) => {
        const snapshots = new Map(objects.entries());
        expect(back(snapshots)).toEqual(snapshots);
      }),
    );
  });

  it.each<readonly [string, KubeObject]>([
    ["of one store", configMap({ text: "x".repeat(700 * KIB) })],
    ["of more than a store", configMap({ text: "x".repeat(1500 * KIB) })],
    ["of characters of three bytes", configMap({ text: "€".repeat(310 * KIB) })],
    ["cut within characters of two units", configMap({ text: "😀".repeat(250 * KIB) })],
    ["cut within those, one off", configMap({ textx: "😀".repeat(250 * KIB) })],
    ["with half a character", configMap({ text: `\uD83D${"x".repeat(1000 * KIB)}` })],
    ["in a Secret, cut before a byte order mark", secret({ text: "\uFEFF".repeat(310 * KIB) })],
    ["in a Secret, cut within characters", secret({ text: "😀".repeat(250 * KIB) })],
  ])("come back whole: one %s", (_, object) => {
    const { packs, starts } = pack(new Map([[3, object]]));
    for (const one of packs) expect(bytes(one)).toBeLessThanOrEqual(900 * KIB);
    expect(starts).toEqual(new Map([[3, 0]]));
    // Not toEqual, which would show a megabyte.
    expect(equal(back(new Map([[3, object]])).get(3), object)).toBe(true);
  });

  it("of 5 MiB in all, large and small, fit in stores of 900 KiB, Secrets in Secrets only", () => {
    const objects = [
      ...Array.from({ length: 20 }, (_, n) => configMap({ text: "x".repeat(n * 20 * KIB) }, `${n}`)),
      ...Array.from({ length: 10 }, (_, n) => secret({ key: `${n}`.repeat(n * 5 * KIB) })),
      configMap({ text: "é".repeat(500 * KIB) }),
      configMap({}),
    ];
    const snapshots = new Map(objects.entries());
    const { packs, starts } = pack(snapshots);
    for (const one of packs) expect(bytes(one)).toBeLessThanOrEqual(900 * KIB);
    for (const [index, object] of snapshots) {
      const start = packs[starts.get(index) ?? -1];
      expect(start?.kind).toBe(object.kind);
      expect([...(start?.data.keys() ?? [])].some((key) => key.startsWith(snapshotKey(index, object)))).toBe(true);
    }
    expect(packs.map(({ kind }) => kind)).toEqual(packs.map(({ kind }) => kind).toSorted());
    const again = back(snapshots);
    for (const [index, object] of snapshots) expect(equal(again.get(index), object)).toBe(true);
  });

  it("of Secrets are in no ConfigMap", () => {
    fc.assert(
      fc.property(fc.array(kubeObject, { maxLength: 6 }), (objects) => {
        for (const { kind, data } of pack(new Map(objects.entries())).packs)
          for (const text of data.values())
            expect((JSON.parse(text) as KubeObject).kind === "Secret").toBe(kind === "Secret");
      }),
    );
  });

  it("of nothing need no store", () => {
    expect(pack(new Map())).toEqual({ packs: [], starts: new Map() });
  });

  it("are not there when a part is missing, or is no JSON of an object", () => {
    const large = configMap({ text: "x".repeat(1200 * KIB) });
    const { packs } = pack(new Map([[0, large]]));
    const stores = packs.map(({ data }) => data);
    const key = snapshotKey(0, large);
    expect(equal(unpack(key, stores), large)).toBe(true);
    for (const [n, store] of stores.entries())
      for (const part of store.keys()) {
        const less = new Map([...store].filter(([name]) => name !== part));
        expect(unpack(key, stores.with(n, less))).toBeUndefined();
      }
    expect(unpack("item-1-1", stores)).toBeUndefined();
    for (const text of ["", "{", "null", "[]", "{}", '{"metadata":1}'])
      expect(unpack("k", [new Map([["k", text]])])).toBeUndefined();
  });
});

const packed = (kind: Pack["kind"]): Pack => ({ kind, data: new Map([["item-0-1", '{"é":1}']]) });

describe("a store", () => {
  it.each(["ConfigMap", "Secret"] as const)("is opened under its uid and digest: %s", (kind) => {
    const { ref, object } = written(packed(kind));
    expect(openStore(ref, object)).toEqual({ type: "data", data: packed(kind).data });
  });

  it.each(["ConfigMap", "Secret"] as const)("is not trusted under another uid, or with other content: %s", (kind) => {
    const { ref, object } = written(packed(kind));
    const foreign = { ...object, metadata: { ...object.metadata, uid: "other" } };
    expect(openStore(ref, foreign)).toEqual({
      type: "broken",
      why: `${kind} deploy-v2-rollback is not the object that was written`,
    });
    const altered = { type: "broken", why: `the content of ${kind} deploy-v2-rollback was modified` };
    expect(openStore({ ...ref, digest: "sha256:0" }, object)).toEqual(altered);
    for (const data of [undefined, null, {}, { "item-0-1": "" }, { "item-0-1": 1 }, { "item-0-1": "%" }, "x"])
      expect(openStore(ref, { ...object, data })).toEqual(altered);
    const more = { ...(object["data"] as object), more: "" };
    expect(openStore(ref, { ...object, data: more })).toEqual(altered);
  });

  it("has a digest that any change of a key or of a value changes", () => {
    const contents = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 }), { maxKeys: 3 });
    fc.assert(
      fc.property(contents, contents, (a, b) => {
        const [one, other] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
        const same = one.size === other.size && [...one].every(([key, text]) => other.get(key) === text);
        expect(digestOfStore(one) === digestOfStore(other)).toBe(same);
        expect(digestOfStore(new Map([...one].toReversed()))).toBe(digestOfStore(one));
      }),
    );
  });

  it("is immutable, named after the Transaction, held by a finalizer, and owned by nobody", () => {
    expect(storeBody(txn, 1, packed("Secret"))).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "deploy-v2-rollback-1",
        namespace: "shop",
        labels: {
          "app.kubernetes.io/managed-by": "janus",
          "janus.io/transaction": "deploy-v2",
          "janus.io/transaction-uid": UID,
        },
        finalizers: ["backup.janus.io/snapshot"],
      },
      immutable: true,
      stringData: { "item-0-1": '{"é":1}' },
    });
    expect(storePlace(txn, { kind: "Secret", name: "s" })).toEqual({ resource: secrets, namespace: "shop", name: "s" });
    expect(storePlace(txn, { kind: "ConfigMap", name: "c" }).resource).toBe(configMaps);
  });
});
