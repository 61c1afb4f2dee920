import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import { showPath } from "../../../packages/controller/src/core/merge/show-path.ts";
import type { JsonObject, KubeObject } from "@janus/types";
import { overwrittenFields } from "../../../packages/controller/src/core/merge/overwritten-fields.ts";
import { recreatedOwnership } from "../../../packages/controller/src/core/merge/recreated-ownership.ts";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { arbitraryObject } from "./arbitrary-json.ts";
import { apply, put } from "./thing-server.ts";
import { author, manager, patch, place, plain, thing, update, wish } from "./thing.ts";

const bare = (fields: JsonObject, managedFields: KubeObject["metadata"]["managedFields"] = []): KubeObject => ({
  ...thing(fields),
  metadata: { ...thing(fields).metadata, managedFields },
});
const entry = (by: string, fieldsV1: JsonObject) => ({ manager: by, operation: "Update" as const, fieldsV1 });
/** Of a Patch. */
const applied = (fieldsV1: JsonObject) => ({ ...entry(manager, fieldsV1), operation: "Apply" as const });
const at = (by: string, time: string, owned: JsonObject) => ({ ...entry(by, owned), time });

describe("what nobody owns", () => {
  it("goes with the change that brought it, such as a default", () => {
    const before = bare({ spec: { type: "A" } }, [entry("kubectl", { "f:spec": { "f:type": {} } })]);
    const live = bare({ spec: { type: "B", port: 1 } }, [applied({ "f:spec": { "f:type": {} } })]);
    const { put: body } = restoration(wish(patch({ spec: { type: "B" } })), place, before, live, author);
    expect(body).toMatchObject({ spec: { type: "A" } });
    expect(body).not.toMatchObject({ spec: { port: 1 } });
  });

  it("comes back with what the change took away", () => {
    const before = bare({ spec: { type: "A", port: 1 } }, [entry("kubectl", { "f:spec": { "f:type": {} } })]);
    const live = bare({ spec: { type: "B" } }, [applied({ "f:spec": { "f:type": {} } })]);
    const { put: body } = restoration(wish(patch({ spec: { type: "B" } })), place, before, live, author);
    expect(body).toMatchObject({ spec: { type: "A", port: 1 } });
  });

  it("is in the items of a list that are named twice, which come back as they were", () => {
    const env = [
      { name: "A", value: "1" },
      { name: "B", value: "1" },
      { name: "A", value: "2" },
    ];
    const owned = { "f:env": { 'k:{"name":"A"}': {}, 'k:{"name":"B"}': { ".": {}, "f:name": {}, "f:value": {} } } };
    const before = bare({ env }, [entry("kubectl", owned)]);
    const changed = env.with(1, { name: "B", value: "2" });
    const live = bare({ env: changed }, [
      entry("kubectl", { "f:env": { 'k:{"name":"A"}': {} } }),
      applied({ "f:env": { 'k:{"name":"B"}': { "f:value": {} } } }),
    ]);
    const change = wish(patch({ env: [{ name: "B", value: "2" }] }));
    const { put: body, conflicts } = restoration(change, place, before, live, author);
    expect({ body, conflicts }).toMatchObject({ body: { env }, conflicts: [] });
  });
});

const stamped = (by: string): JsonObject => ({ metadata: { annotations: { "last-writer": by } } });

it("takes what a policy writes into the metadata for no doing of the change, which leaves them alone", () => {
  const before = bare({ data: { a: "1" }, ...stamped("gitops") }, [entry("gitops", { "f:data": { "f:a": {} } })]);
  const live = bare({ data: { a: "2" }, ...stamped("janus") }, [applied({ "f:data": { "f:a": {} } })]);
  const { put: body, conflicts } = restoration(wish(patch({ data: { a: "2" } })), place, before, live, author);
  expect({ body, conflicts }).toMatchObject({ body: { data: { a: "1" }, ...stamped("gitops") }, conflicts: [] });
});

describe("what is owned and not there", () => {
  const owned = { "f:spec": { "f:policy": {} } };
  const before = bare({ spec: { type: "A", policy: "local" } }, [
    at("gitops", "t1", { "f:spec": { "f:type": {}, "f:policy": {} } }),
  ]);
  const ours = at(manager, "t2", { "f:spec": { "f:type": {} } });
  const change = wish(patch({ spec: { type: "B" } }));

  it("was left out by the API server, and comes back with what it goes with", () => {
    const live = bare({ spec: { type: "B" } }, [at("gitops", "t1", owned), ours]);
    expect(restoration(change, place, before, live, author).put).toMatchObject({
      spec: { type: "A", policy: "local" },
    });
  });

  it("stays away if its owner has written since", () => {
    const live = bare({ spec: { type: "B" } }, [at("gitops", "t3", owned), ours]);
    const { put: body } = restoration(change, place, before, live, author);
    expect(body).toMatchObject({ spec: { type: "A" } });
    expect(body).not.toMatchObject({ spec: { policy: "local" } });
  });
});

describe("status", () => {
  const before = bare({ spec: { a: "1" } }, [entry("kubectl", { "f:spec": { "f:a": {} } })]);
  const live = bare({ spec: { a: "2" }, status: { phase: "ours" } }, [
    entry(manager, { "f:spec": { "f:a": {} }, "f:status": { "f:phase": {} } }),
  ]);
  const change = wish(patch({ spec: { a: "2" }, status: { phase: "ours" } }));

  it("that is a subresource is sent as it is: the API server leaves it alone", () => {
    expect(restoration(change, place, before, live, author).put).toMatchObject({ status: { phase: "ours" } });
  });

  it("that is part of the object is taken back with the rest", () => {
    expect(restoration(change, plain, before, live, author).put).toEqual(
      expect.not.objectContaining({ status: expect.anything() }),
    );
  });
});

describe("who owns what", () => {
  it("is cleared where nobody did: an empty list is documented not to do that", () => {
    const live = bare({ data: { a: "2" } }, [entry(manager, { "f:data": { "f:a": {} } })]);
    const { put: body } = restoration(
      wish(update({ data: { a: "2" } })),
      place,
      bare({ data: { a: "1" } }),
      live,
      author,
    );
    expect(body).toMatchObject({ metadata: { managedFields: [{}] } });
    expect(recreatedOwnership(bare({}), live, author.uid)).toEqual([{}]);
  });

  it("of an empty map, which has no value, is as before after the second PUT", () => {
    const applied = apply(thing({}), { data: {} }, "gitops");
    const change = wish(patch({ data: { a: "1" } }));
    const changed = apply(applied, changeBody(change, place, applied, author), manager);
    const memoized = put(changed, restoration(change, place, applied, changed, author).put ?? {}, manager);
    const twice = put(memoized, restoration(change, place, applied, memoized, author).put ?? {}, manager);
    expect(applied.metadata.managedFields).toMatchObject([{ manager: "gitops", fieldsV1: { "f:data": {} } }]);
    expect(twice.metadata.managedFields).toEqual(applied.metadata.managedFields);
    expect(restoration(change, place, applied, twice, author).put).toBeUndefined();
  });

  it("keeps the time of whoever wrote since, and has that of before where nobody did", () => {
    const [a, b] = [{ "f:data": { "f:a": {} } }, { "f:data": { "f:b": {} } }];
    const before = bare({ data: { a: "1", b: "1" } }, [at("one", "t1", a), at("two", "t1", b)]);
    const live = bare({ data: { a: "2", b: "5" } }, [at(manager, "t2", a), at("two", "t3", b)]);
    const { put: body } = restoration(wish(patch({ data: { a: "2" } })), place, before, live, author);
    const ours: unknown = expect.objectContaining({ manager });
    expect(body).toMatchObject({
      data: { a: "1", b: "5" },
      metadata: { managedFields: [at("two", "t3", b), at("one", "t1", a), ours] },
    });
  });

  it("of an object created again is who did before, and who has written since", () => {
    const before = bare({}, [entry("one", { "f:data": { "f:a": {} } }), entry("two", { "f:data": { "f:b": {} } })]);
    const live = bare({}, [
      entry(manager, { "f:data": { "f:a": {}, "f:b": {} } }),
      entry("two", { "f:data": { "f:c": {} } }),
      entry("three", { "f:status": {} }),
    ]);
    expect(recreatedOwnership(before, live, author.uid)).toEqual([
      entry("one", { "f:data": { "f:a": {} } }),
      entry("two", { "f:data": { "f:b": {}, "f:c": {} } }),
      entry("three", { "f:status": {} }),
    ]);
  });
});

it("whatever JSON it is given, it never throws", () => {
  const entries = fc.array(
    fc.record({
      manager: fc.constantFrom(manager, "other"),
      operation: fc.constantFrom("Apply" as const, "Update" as const),
      fieldsV1: arbitraryObject,
    }),
    { maxLength: 3 },
  );
  const object = fc.tuple(arbitraryObject, arbitraryObject, entries).map(
    ([fields, metadata, managedFields]): KubeObject => ({
      ...fields,
      apiVersion: "v1",
      kind: "Thing",
      metadata: { ...metadata, managedFields },
    }),
  );
  const change = fc
    .tuple(fc.constantFrom("Patch" as const, "Update" as const), arbitraryObject)
    .map(([type, content]) => wish({ type, content }));
  fc.assert(
    fc.property(change, fc.constantFrom(place, plain), object, object, (one, at, before, live) => {
      expect(() => {
        restoration(one, at, before, live, author).conflicts.map(showPath);
        overwrittenFields(one, at, before, live).map(showPath);
        recreatedOwnership(before, live, author.uid);
      }).not.toThrow();
    }),
    { numRuns: 150 },
  );
});

const many = (keys: number, value: string): JsonObject =>
  Object.fromEntries(Array.from({ length: keys }, (_, n) => [`key-${n}`, value]));

/** How often anything in the objects is looked at: unlike time, it is the same on a busy machine. */
const looks = (keys: number): number => {
  let count = 0;
  const counted = <A extends object>(object: A): A =>
    new Proxy(object, {
      get: (at, name): unknown => {
        count += 1;
        const value: unknown = Reflect.get(at, name);
        return typeof value === "object" && value !== null ? counted(value) : value;
      },
      getOwnPropertyDescriptor: (at, name) => {
        count += 1;
        return Reflect.getOwnPropertyDescriptor(at, name);
      },
    });
  const owned = { "f:data": Object.fromEntries(Object.keys(many(keys, "")).map((name) => [`f:${name}`, {}])) };
  const before = counted(bare({ data: many(keys, "1") }, [entry("kubectl", owned)]));
  const live = counted(bare({ data: many(keys, "2") }, [entry(manager, owned)]));
  restoration(wish(patch({ data: many(keys, "2") })), place, before, live, author);
  return count;
};

it("twice as many keys take twice the work, not four times", () => {
  const [some, twice] = [looks(1000), looks(2000)];
  expect(some).toBeGreaterThan(1000);
  expect(twice / some).toBeLessThan(2.1);
});
