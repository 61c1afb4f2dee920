import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import { fieldValue } from "../../../packages/controller/src/core/merge/field-value.ts";
import { overwrittenFields } from "../../../packages/controller/src/core/merge/overwritten-fields.ts";
import { showPath } from "../../../packages/controller/src/core/merge/show-path.ts";
import { equal, type JsonObject, type KubeObject } from "@janus/types";
import { asJson, bare, edits, paths, sets, write, written } from "./arbitrary-writes.ts";
import { edited } from "./edit.ts";
import { apply, post, put } from "./thing-server.ts";
import { author, type Edit, manager, patch, place, thing, update, wish } from "./thing.ts";

const ports = (...list: readonly JsonObject[]): JsonObject => ({ spec: { ports: list } });
const tcp = { port: 80, protocol: "TCP" };
const udp = { port: 80, protocol: "UDP" };
/** The fields of such ports, as the API server books them. */
const portsOwned = {
  "f:spec": {
    "f:ports": {
      'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {} },
      'k:{"port":80,"protocol":"UDP"}': { ".": {}, "f:name": {} },
    },
  },
};
/** Containers in this order, each as name=image. */
const containers = (...list: readonly string[]): JsonObject => ({
  spec: {
    containers: list.map((one) => {
      const [name = "", image = ""] = one.split("=");
      return { name, image };
    }),
  },
});
const containersOwned = { "f:spec": { "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:image": {} } } } };
const selecting = (selector: JsonObject): JsonObject => ({ spec: { selector } });
/** A map that is replaced as a whole. */
const selectorOwned = { "f:spec": { "f:selector": {} } };
const resourcesOwned = { "f:spec": { "f:resources": { "f:requests": { "f:cpu": {} } } } };

type Row = readonly [what: string, before: JsonObject, live: JsonObject, change: Edit, owned: JsonObject, string[]];

const rows: readonly Row[] = [
  [
    "nothing, where others have added another protocol of a port that the content names in full",
    ports(tcp),
    ports(tcp, udp),
    patch(ports({ ...tcp, name: "a" })),
    portsOwned,
    [],
  ],
  [
    "a port whose protocol the content leaves to the default, whichever others have changed",
    ports({ ...tcp, name: "a" }, { ...udp, name: "a" }),
    ports({ ...tcp, name: "a" }, { ...udp, name: "theirs" }),
    patch(ports({ port: 80, name: "a" })),
    portsOwned,
    ['.spec.ports[port=80,protocol="UDP"].name'],
  ],
  [
    "a port that the content names in full, beside one whose protocol it leaves to the default",
    ports(tcp, { ...udp, name: "a" }),
    ports(tcp, udp),
    patch(ports({ port: 80 }, { ...udp, name: "a" })),
    portsOwned,
    ['.spec.ports[port=80,protocol="UDP"].name'],
  ],
  [
    "the order of a list that others have changed",
    containers("a=1", "b=1", "c=1"),
    containers("b=1", "c=1", "a=1"),
    patch(containers("a=2", "b=1")),
    containersOwned,
    [".spec.containers"],
  ],
  [
    "the order of a list whose items others have put another one before",
    containers("a=1"),
    containers("theirs=1", "a=1"),
    patch(containers("a=2", "theirs=1")),
    containersOwned,
    [".spec.containers"],
  ],
  [
    "no order where it sets a single item of the list",
    containers("a=1", "b=1", "c=1"),
    containers("b=1", "c=1", "a=1"),
    patch(containers("a=2")),
    containersOwned,
    [],
  ],
  [
    "no order that is the one of the content",
    containers("a=1", "b=1", "c=1"),
    containers("b=1", "c=1", "a=1"),
    patch(containers("b=1", "a=2")),
    containersOwned,
    [],
  ],
  [
    "no order that others have not changed",
    containers("a=1", "b=1", "c=1"),
    containers("a=1", "b=1"),
    patch(containers("b=2", "a=2")),
    containersOwned,
    [],
  ],
  [
    "a map that is replaced as a whole, to which others have added a key",
    selecting({ app: "web" }),
    selecting({ app: "web", theirs: "1" }),
    patch(selecting({ app: "web" })),
    selectorOwned,
    [".spec.selector"],
  ],
  [
    "a map of which nothing shows that it is merged",
    selecting({ app: "web" }),
    selecting({ app: "web", theirs: "1" }),
    patch(selecting({ app: "web" })),
    { "f:spec": { "f:replicas": {} } },
    [".spec.selector"],
  ],
  [
    "a list that is replaced as a whole",
    { spec: { args: ["x"] } },
    { spec: { args: ["x", "theirs"] } },
    patch({ spec: { args: ["x"] } }),
    { "f:spec": { "f:args": {} } },
    [".spec.args"],
  ],
  [
    "nothing by an empty map, which is merged with what others have set",
    { spec: { resources: {} } },
    { spec: { resources: { requests: { cpu: 1 } } } },
    patch({ spec: { resources: {} } }),
    resourcesOwned,
    [],
  ],
  [
    "an empty map, which others have removed",
    { spec: { resources: { requests: { cpu: 1 } } } },
    { spec: {} },
    patch({ spec: { resources: {} } }),
    resourcesOwned,
    [".spec.resources"],
  ],
  [
    "a value that the content removes with null",
    { spec: { replicas: 1 } },
    { spec: { replicas: 5 } },
    patch({ spec: { replicas: null } }),
    { "f:spec": { "f:replicas": {} } },
    [".spec.replicas"],
  ],
  [
    "what an Update leaves out, where others have changed it",
    { data: { a: "1", b: "1" } },
    { data: { a: "1", b: "theirs" } },
    update({ data: { a: "2" } }),
    { "f:data": { "f:a": {}, "f:b": {} } },
    [".data.b"],
  ],
];

const booked = (fields: JsonObject, fieldsV1: JsonObject, apiVersion = "v1"): KubeObject => {
  const object = thing(fields);
  const managedFields = [{ manager: "person", operation: "Update" as const, apiVersion, fieldsV1 }];
  return { ...object, metadata: { ...object.metadata, managedFields } };
};

const world = fc
  .record({
    first: edits,
    before: fc.array(write, { maxLength: 3 }),
    since: fc.array(write, { minLength: 1, maxLength: 3 }),
    content: edits.filter((all) => all.some(sets)),
  })
  .map(({ first, before: writes, since, content }) => {
    const start = post(edited(asJson(bare), first) as unknown as KubeObject, "kubectl");
    const before = writes.reduce(written, start);
    const live = since.reduce(written, before);
    const modified = paths.filter((path) => !equal(fieldValue(before, path), fieldValue(live, path)));
    return { before, live, modified, content: edited({}, content.filter(sets)) };
  });
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

const contentOf = (object: KubeObject): object => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: "", managedFields: [] },
});

const check = (holds: (world: World) => void) => fc.assert(fc.property(world, holds), { numRuns: 300 });

describe("a change of what others have modified since the snapshot", () => {
  it.each(rows)("overwrites %s", (_, before, live, change, owned, fields) => {
    const found = overwrittenFields(wish(change), place, booked(before, owned), booked(live, owned));
    expect(found.map(showPath)).toEqual(fields);
  });

  it.each<[string, JsonObject, JsonObject, JsonObject, string[]]>([
    ["not how a map is merged", selecting({ a: "1" }), selecting({ a: "1", b: "1" }), selecting({ a: "2" }), [".spec"]],
    [
      "how labels are merged",
      { metadata: { labels: { a: "1" } } },
      { metadata: { labels: { a: "1", b: "1" } } },
      { metadata: { labels: { a: "2" } } },
      [],
    ],
  ])("learns from managers in another version of the kind %s", (_, before, live, content, fields) => {
    const owned = { "f:spec": { "f:selector": { "f:a": {} } }, "f:metadata": { "f:labels": { "f:a": {} } } };
    const [was, is] = [booked(before, owned, "v2"), booked(live, owned, "v2")];
    expect(overwrittenFields(wish(patch(content)), place, was, is).map(showPath)).toEqual(fields);
  });

  it("changes no value that they have set or removed, where a Patch is said to overwrite nothing", () => {
    check(({ before, live, modified, content }) => {
      const change = wish(patch(content));
      if (overwrittenFields(change, place, before, live).length > 0) return;
      const result = apply(live, changeBody(change, place, live, author), manager);
      for (const path of modified) expect(fieldValue(result, path)).toEqual(fieldValue(live, path));
    });
  });

  it("is refused only for fields that they have modified, and that the Patch sets", () => {
    check(({ before, live, content }) => {
      for (const path of overwrittenFields(wish(patch(content)), place, before, live)) {
        expect(fieldValue(content, path)).toBeDefined();
        expect(fieldValue(live, path)).not.toEqual(fieldValue(before, path));
      }
    });
  });

  it("is refused for an Update, whatever they have modified, and for nothing else", () => {
    check(({ before, live, content }) => {
      const change = wish(update(content));
      // Items that were removed and are there again may be in another order.
      const isModified = !equal(contentOf(before), contentOf(live));
      expect(overwrittenFields(change, place, before, live).length > 0).toBe(isModified);
      const again = put(before, before, "person");
      expect(overwrittenFields(change, place, before, again)).toEqual([]);
    });
  });
});
