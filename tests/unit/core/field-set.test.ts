import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementOf, type ListKind, listKind } from "../../../packages/controller/src/core/merge/list-element.ts";
import {
  filter,
  has,
  meets,
  nodeAt,
  type Path,
  setOf,
  union,
} from "../../../packages/controller/src/core/merge/field-set.ts";
import { showPath } from "../../../packages/controller/src/core/merge/show-path.ts";
import { fieldValue } from "../../../packages/controller/src/core/merge/field-value.ts";
import type { Json } from "@janus/types";
import { fields, nodes } from "./arbitrary-fields.ts";
import { samples } from "./samples.ts";

const key = (path: Path): string => JSON.stringify(path);

describe("a set of fields", () => {
  it("holds after a union what is in one or the other, and nothing else", () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const both = union([a, b]);
        for (const path of [...nodes(a), ...nodes(b), ...nodes(both)])
          expect(has(both, path)).toBe(has(a, path) || has(b, path));
      }),
    );
  });

  it("has a union that is commutative, associative, idempotent, and without effect for the empty set", () => {
    fc.assert(
      fc.property(fields, fields, fields, (a, b, c) => {
        expect(union([a, b])).toEqual(union([b, a]));
        expect(union([union([a, b]), c])).toEqual(union([a, union([b, c])]));
        expect(union([a, b, c])).toEqual(union([union([a, b]), c]));
        expect(union([a, a])).toEqual(a);
        expect(union([a, {}])).toEqual(a);
        expect(union([a])).toEqual(a);
      }),
    );
  });

  it("holds after a filter what is to be kept, and nothing else", () => {
    fc.assert(
      fc.property(fields, fc.infiniteStream(fc.boolean()), (set, coins) => {
        const keeps = new Map(nodes(set).map((path) => [key(path), coins.next().value === true]));
        const kept = filter(set, (path) => keeps.get(key(path)) === true);
        for (const path of nodes(set)) expect(has(kept, path)).toBe(has(set, path) && keeps.get(key(path)) === true);
        for (const path of nodes(kept)) expect(nodeAt(set, path)).toBeDefined();
      }),
    );
  });

  it("meets another one just where it has one of its fields, or a part of it", () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const paths = nodes(b).filter((path) => path.length > 0 && has(b, path));
        if (paths.length === 0) return;
        expect(meets(a, setOf(paths))).toBe(paths.some((path) => nodeAt(a, path) !== undefined));
      }),
    );
  });

  it("is the same after a filter that keeps everything, and empty after one that keeps nothing", () => {
    fc.assert(
      fc.property(fields, (set) => {
        expect(filter(set, () => true)).toEqual(set);
        expect(filter(set, () => false)).toEqual({});
      }),
    );
  });
});

describe.each(samples)("in the managedFields of a real $kind", (object) => {
  const entries = object.metadata.managedFields ?? [];
  const sets = entries.map((entry) => entry.fieldsV1 ?? {});

  it("a set is the same after a filter that keeps everything, and after a union with itself", () => {
    expect(sets.length).toBeGreaterThan(0);
    for (const set of sets) {
      expect(filter(set, () => true)).toEqual(set);
      expect(union([set, set])).toEqual(set);
    }
  });

  it("every field has a value", () => {
    for (const set of sets)
      for (const path of nodes(set)) expect([showPath(path), fieldValue(object, path)]).not.toContain(undefined);
  });

  it("every item of a list that is merged has just the element that the API server gave it", () => {
    const all = union(sets);
    for (const path of nodes(all)) {
      const list = fieldValue(object, path);
      const kind = listKind(nodeAt(all, path));
      if (!Array.isArray(list) || kind === undefined) continue;
      const elements = Object.keys(nodeAt(all, path) ?? {}).filter((name) => name !== ".");
      expect((list as readonly Json[]).map((item) => elementOf(kind, item)).toSorted()).toEqual(elements.toSorted());
    }
  });
});

describe("a list", () => {
  it.each<[string, object | undefined, ListKind | undefined]>([
    ["with items by their keys", { ".": {}, 'k:{"name":"web"}': {} }, { type: "keys", keys: ["name"] }],
    ["with several keys", { 'k:{"port":80,"protocol":"TCP"}': {} }, { type: "keys", keys: ["port", "protocol"] }],
    ["that is a set", { 'v:"x"': {} }, { type: "value" }],
    ["that is owned as a whole", {}, undefined],
    ["that nobody owns", undefined, undefined],
    ["by index", { "i:0": {} }, undefined],
    ["with keys that are no JSON", { "k:{": {} }, { type: "keys", keys: [] }],
  ])("%s", (_, node, kind) => {
    expect(listKind(node as Parameters<typeof listKind>[0])).toEqual(kind);
  });
});

const object = {
  spec: {
    replicas: 0,
    ports: [
      { port: 80, name: "a" },
      { port: 80, protocol: "UDP" },
    ],
    args: ["x", 1, { a: null }],
    "a.b/c": "slash",
  },
};

describe("the value of a field", () => {
  it.each<[Path, unknown]>([
    [["f:spec", "f:replicas"], 0],
    [["f:spec", "f:absent"], undefined],
    [["f:spec", "f:replicas", "f:deeper"], undefined],
    [["f:spec", "f:a.b/c"], "slash"],
    [["f:spec", "f:args", "i:1"], 1],
    [["f:spec", "f:args", 'v:{"a":null}'], { a: null }],
    [["f:spec", "f:args", "v:2"], undefined],
    [["f:spec", "f:args", "v:{"], undefined],
    [["f:spec", "f:args", "f:length"], undefined],
    // An item that lacks a key is another one.
    [["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"], undefined],
    [["f:spec", "f:ports", 'k:{"port":80,"protocol":"UDP"}', "f:protocol"], "UDP"],
    [["f:spec", "f:ports", 'k:{"port":81,"protocol":"UDP"}'], undefined],
    [["f:constructor"], undefined],
    [["f:__proto__", "f:toString"], undefined],
    [[], object],
  ])("%j is %j", (path, value) => {
    expect(fieldValue(object, path)).toEqual(value);
  });

  it("is that of the first item with these keys, whatever else was looked for before", () => {
    const key = fc.constantFrom("a", "b");
    const items = fc.array(fc.dictionary(key, fc.nat({ max: 2 }), { noNullPrototype: true }), { maxLength: 5 });
    const wanted = fc.array(fc.dictionary(key, fc.nat({ max: 2 }), { noNullPrototype: true }), { maxLength: 5 });
    fc.assert(
      fc.property(items, wanted, (items, wanted) => {
        for (const keys of wanted)
          expect(fieldValue(items, [`k:${JSON.stringify(keys)}`])).toBe(
            items.find((item) => Object.entries(keys).every(([name, value]) => item[name] === value)),
          );
      }),
    );
  });

  it("is shown as people write it", () => {
    const paths: readonly (readonly [Path, string])[] = [
      [["f:spec", "f:replicas"], ".spec.replicas"],
      [["f:data", "f:a.b"], '.data["a.b"]'],
      [["f:spec", "f:containers", 'k:{"name":"web"}', "f:image"], '.spec.containers[name="web"].image'],
      [["f:ports", 'k:{"port":80,"protocol":"TCP"}'], '.ports[port=80,protocol="TCP"]'],
      [["f:metadata", "f:finalizers", 'v:"x.io/a"'], '.metadata.finalizers["x.io/a"]'],
      [["f:args", "i:0"], ".args[0]"],
    ];
    for (const [path, text] of paths) expect(showPath(path)).toBe(text);
  });
});
