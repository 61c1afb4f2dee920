import type { KubeObject } from "@janus/kube";
import { equal, type JsonObject } from "@janus/types";
import * as fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { fieldValue } from "../../packages/controller/src/core/merge/field-value.ts";
import type { Path } from "../../packages/controller/src/core/merge/field-set.ts";
import { overwrittenFields } from "../../packages/controller/src/core/merge/overwritten-fields.ts";
import { resourceOf } from "../fixtures/administrator.ts";
import { GROUP } from "./kinds.ts";
import { manifest, openScene } from "./scene.ts";
import { target } from "./target.ts";

beforeAll(openScene);

const value = fc.constantFrom("1", "2", "3");
const port = fc.record(
  { port: fc.constantFrom(80, 81), protocol: fc.constantFrom("TCP", "UDP"), name: value },
  { requiredKeys: ["port"] },
);
const portsById = {
  selector: ({ port, protocol = "TCP" }: { readonly port: number; readonly protocol?: string }) =>
    `${port} ${protocol}`,
};
const map = fc.dictionary(fc.constantFrom("a", "b"), value);

interface Values {
  readonly labels: JsonObject;
  readonly colour: string;
  readonly hosts: readonly string[];
  readonly args: readonly string[];
  readonly selector: JsonObject;
  readonly ports: readonly JsonObject[];
}
const values: fc.Arbitrary<Values> = fc.record({
  labels: map,
  colour: value,
  hosts: fc.uniqueArray(value),
  args: fc.array(value, { maxLength: 2 }),
  selector: map,
  ports: fc.uniqueArray(port, { maxLength: 3, ...portsById }),
});
const NAMES = ["labels", "colour", "hosts", "args", "selector", "ports"] as const;
type Names = readonly (typeof NAMES)[number][];

/** These fields of an object, with every sort of map and list: what somebody applies, or sets in an edit. */
const objectOf = (all: Values, names: Names): JsonObject => {
  const spec = Object.fromEntries(names.flatMap((name) => (name === "labels" ? [] : [[name, all[name]] as const])));
  return { spec, ...(names.includes("labels") ? { metadata: { labels: all.labels } } : {}) };
};

/** Everybody writes some of the same few fields, and the change often repeats what was there. */
const world = fc
  .record({
    names: fc.subarray([...NAMES], { minLength: 1, maxLength: 2 }),
    first: values,
    since: fc.array(fc.tuple(fc.constantFrom("applies" as const, "edits" as const), values, fc.boolean()), {
      minLength: 1,
      maxLength: 2,
    }),
    content: fc.option(values, { freq: 1 }),
  })
  .map(({ names, first, since, content }) => ({
    first: objectOf(first, names),
    since: since.map(([how, all, isOfAll]) => ({ how, fields: objectOf(all, isOfAll ? names : names.slice(1)) })),
    content: objectOf(content ?? first, names),
  }));

/** It makes `ports: null` of a list from which an apply takes the last item, for example, and rejects that: then nothing is written. */
const unlessRejected = (writing: Promise<unknown>): Promise<unknown> => writing.catch(() => undefined);

const paths: readonly Path[] = [
  ["f:metadata", "f:labels", "f:a"],
  ["f:metadata", "f:labels", "f:b"],
  ["f:spec", "f:colour"],
  ["f:spec", "f:args"],
  ["f:spec", "f:selector"],
  ...["1", "2", "3"].map((host) => ["f:spec", "f:hosts", `v:"${host}"`]),
  ...[80, 81].flatMap((port) =>
    ["TCP", "UDP"].flatMap((protocol) => {
      const item = ["f:spec", "f:ports", `k:{"port":${port},"protocol":"${protocol}"}`];
      return [
        [...item, "f:port"],
        [...item, "f:name"],
      ];
    }),
  ),
];

let count = 0;
/** An object that a GitOps tool has applied, and what others may write to it. */
const applied = async (fields: JsonObject) => {
  const named = manifest(`${GROUP}/v1`, "Split", `any-${(count += 1)}`);
  const object = await target(named);
  await object.apply("gitops", fields);
  const meddle = async (writes: readonly { readonly how: "applies" | "edits"; readonly fields: JsonObject }[]) => {
    for (const { how, fields } of writes)
      await unlessRejected(how === "applies" ? object.apply("gitops", fields, true) : object.edit("person", fields));
    return object.read();
  };
  return { ...object, named, meddle };
};

const valueAt = (object: KubeObject) => (path: Path) => [path.join(), fieldValue(object, path)];
const differing = (a: KubeObject, b: KubeObject): readonly Path[] =>
  paths.filter((path) => !equal(fieldValue(a, path), fieldValue(b, path)));

/** The items of both lists, each with the name of its list, in their order. */
const namesIn = ({ spec = {} }: KubeObject): readonly string[] => {
  const { hosts = [], ports = [] } = spec as { hosts?: string[]; ports?: { port: number; protocol: string }[] };
  return [...hosts.map((host) => `hosts ${host}`), ...ports.map(({ port, protocol }) => `ports ${port} ${protocol}`)];
};
/** Which item comes before which other one of its list. */
const orderOf = (object: KubeObject): readonly string[] => {
  const names = namesIn(object);
  return names.flatMap((name, at) =>
    names
      .slice(at + 1)
      .filter((other) => other.slice(0, 5) === name.slice(0, 5))
      .map((other) => `${name} before ${other}`),
  );
};
/** What of this order is another now. */
const reversed = (order: readonly string[], object: KubeObject): readonly string[] => {
  const now = new Set(orderOf(object));
  return order.filter((one) => now.has(one.split(" before ").toReversed().join(" before ")));
};
/** The order of a version that a former one did not have. */
const newOrder = (former: KubeObject, object: KubeObject): readonly string[] => {
  const was = new Set(orderOf(former));
  return orderOf(object).filter((one) => !was.has(one));
};

it("overwrites nothing that others have modified, whatever the API server makes of it, unless that is said before", async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ first, since, content }) => {
      const { read, change, named, meddle } = await applied(first);
      const before = await read();
      const live = await meddle(since);
      const { apiVersion, kind, metadata } = named;
      const { namespace, name } = metadata;
      const patch = { type: "Patch" as const, target: { apiVersion, kind, name }, content };
      const place = { resource: await resourceOf(named), ...(namespace === undefined ? {} : { namespace }), name };
      if (overwrittenFields(patch, place, before, live).length > 0) return;
      await unlessRejected(change("Patch", content));
      const modified = differing(before, live);
      const result = await read();
      expect(modified.map(valueAt(result))).toEqual(modified.map(valueAt(live)));
      expect(reversed(newOrder(before, live), result)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

it("rolls back what it has changed, or reports a conflict, and nothing that others have modified since", async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.constantFrom("Patch", "Update"), async ({ first, since, content }, type) => {
      const { read, change, meddle } = await applied(first);
      const before = await read();
      const made = await change(type, content).catch(() => undefined);
      if (made === undefined) return;
      const live = await meddle(since);
      const { object, conflicts } = await made.restore();
      const modified = differing(made.changed, live);
      expect(modified.map(valueAt(object))).toEqual(modified.map(valueAt(live)));
      const ordered = newOrder(made.changed, live);
      const isReordered = reversed(orderOf(before), made.changed).length > 0;
      expect(isReordered ? [] : reversed(ordered, object)).toEqual([]);
      expect(ordered.length > 0 ? [] : reversed(orderOf(before), object)).toEqual([]);
      if (conflicts.length > 0) return;
      const others = paths.filter((path) => !modified.includes(path));
      expect(others.map(valueAt(object))).toEqual(others.map(valueAt(before)));
    }),
    { numRuns: 150 },
  );
});
