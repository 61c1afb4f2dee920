// Tests who is named as the author of a change: whoever made it, or nobody, and never another one.
import type { JsonObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  attributed,
  type Entry,
  entryOf,
  type KeyedEntry,
  type SeenChange,
} from "../../../packages/git-journal/src/core/correlation.ts";
import { correlationEntries } from "../../../packages/git-journal/src/core/correlation-entries.ts";
import { fingerprint } from "../../../packages/git-journal/src/core/file-content.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";

const object = (value: string, metadata: JsonObject = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "app", namespace: "shop", uid: "u", resourceVersion: "7", ...metadata },
  data: { value },
});
const PLACE = { group: "", version: "v1", resource: "configmaps", namespace: "shop", name: "app" };

const request = (more: JsonObject = {}): JsonObject => ({
  operation: "UPDATE",
  resource: { group: "", version: "v1", resource: "configmaps" },
  namespace: "shop",
  name: "app",
  userInfo: { username: "alice" },
  dryRun: false,
  object: object("new", { resourceVersion: "7" }),
  oldObject: object("old"),
  ...more,
});
const by = (user: string, more: JsonObject = {}): JsonObject => request({ userInfo: { username: user }, ...more });

const seen = (more: Partial<SeenChange> = {}): SeenChange => ({
  place: PLACE,
  operation: "UPDATE",
  content: fingerprint(sanitised(object("new"))),
  replicas: undefined,
  uid: "u",
  resourceVersion: "7",
  ...more,
});

/** Who made a change, after these requests. */
const author = (requests: readonly JsonObject[], change: SeenChange): string => {
  const entries = correlationEntries();
  for (const one of requests) {
    const keyed = entryOf(one, 0);
    if (keyed !== undefined) entries.put(keyed);
  }
  const attribution = attributed(change, (key) => entries.get(key, 0));
  return attribution.type === "hit" ? attribution.entry.user : attribution.reason;
};

const deep = Array.from({ length: 300 }).reduce<JsonObject>((inner) => ({ inner }), {});

describe("a request", () => {
  it("is remembered by where the object is, what is done, and what it will say", () => {
    expect(entryOf(request(), 5)).toEqual({
      key: `core/v1/configmaps/shop/app.yaml:UPDATE:${seen().content}`,
      entry: { user: "alice", uid: "u", resourceVersion: "7", at: 5 },
    });
  });

  it("what the webhook sees and what the watch shows have one key, although version, manager and status differ", () => {
    const ofWatch = {
      ...object("new", { resourceVersion: "8", managedFields: [{ manager: "x" }], generation: 2 }),
      status: {},
    };
    expect(fingerprint(sanitised(ofWatch))).toBe(seen().content);
  });

  it.each<readonly [string, JsonObject]>([
    ["a dry run", request({ dryRun: true })],
    ["what changes nothing", request({ object: object("old", { resourceVersion: "9" }) })],
    ["a subresource", request({ subResource: "status" })],
    ["no object", request({ object: null })],
    ["a CONNECT", request({ operation: "CONNECT" })],
    ["nobody", request({ userInfo: {} })],
    ["a scale that says no number", request({ subResource: "scale", object: { spec: { replicas: "x" } } })],
    ["no name", request({ name: "", object: object("new", { name: null }), oldObject: object("old", { name: null }) })],
    ["no resource", request({ resource: { group: "", version: "v1" } })],
    ["no version", request({ resource: { group: "", resource: "configmaps" } })],
    ["no uid", request({ object: object("new", { uid: null }) })],
    ["what is nested too deep", request({ object: { ...object("new"), data: deep } })],
    ["nonsense", { operation: 3, resource: "x", object: [] }],
  ])("%s is not remembered", (_, one) => {
    expect(entryOf(one, 0)).toBeUndefined();
  });

  it("one that deletes a collection has the name in the old object only", () => {
    const deleted = request({ operation: "DELETE", name: "", object: null });
    expect(entryOf(deleted, 0)?.key).toMatch(/^core\/v1\/configmaps\/shop\/app\.yaml:DELETE:/u);
    expect(author([deleted], seen({ operation: "DELETE", content: fingerprint(sanitised(object("old"))) }))).toBe(
      "alice",
    );
  });

  it("one with generateName has the name in the object", () => {
    const created = request({ operation: "CREATE", name: "", oldObject: null });
    expect(author([created], seen({ operation: "CREATE", resourceVersion: undefined }))).toBe("alice");
  });

  it("a Namespace is in no namespace, although its request has one", () => {
    const namespace = { ...object("new"), kind: "Namespace", metadata: { name: "shop", uid: "u" } };
    const created = request({
      operation: "CREATE",
      resource: { group: "", version: "v1", resource: "namespaces" },
      name: "shop",
      object: namespace,
      oldObject: null,
    });
    expect(entryOf(created, 0)?.key).toMatch(/^core\/v1\/namespaces\/shop\.yaml:CREATE:/u);
  });
});

describe("the author", () => {
  it.each<readonly [string, readonly JsonObject[], Partial<SeenChange>, string]>([
    ["of one request", [by("alice")], {}, "alice"],
    ["of none", [], {}, "NoRequest"],
    ["of a request for other content", [by("alice", { object: object("other") })], {}, "NoRequest"],
    [
      "of a request for another object of that name",
      [by("alice", { object: object("new", { uid: "v" }) })],
      {},
      "NoRequest",
    ],
    ["of another operation", [by("alice")], { operation: "CREATE" }, "NoRequest"],
    [
      "the exact one of several users",
      [by("bob", { oldObject: object("old", { resourceVersion: "6" }) }), by("alice")],
      {},
      "alice",
    ],
    ["several users, all of them exact: one was refused", [by("bob"), by("alice")], {}, "SeveralUsers"],
    [
      "nobody where the only request was made on another version: it was refused, and that of another user was not seen",
      [by("alice"), by("alice")],
      { resourceVersion: "9" },
      "NoRequest",
    ],
  ])("%s", (_, requests, more, expected) => {
    expect(author(requests, seen(more))).toBe(expected);
  });

  const scaled = (user: string, replicas: number, resourceVersion = "7"): JsonObject =>
    by(user, {
      resource: { group: "apps", version: "v1", resource: "deployments" },
      subResource: "scale",
      object: { kind: "Scale", metadata: { name: "app", namespace: "shop", uid: "u" }, spec: { replicas } },
      oldObject: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "app", uid: "u", resourceVersion } },
    });
  const deployment = { place: { ...PLACE, group: "apps", resource: "deployments" }, replicas: 3 };
  it.each<readonly [string, readonly JsonObject[], Partial<SeenChange>, string]>([
    ["of a scale", [], {}, "alice"],
    ["not of a scale to another number", [], { replicas: 4 }, "NoRequest"],
    ["not of a scale of another version", [], { resourceVersion: "8" }, "NoRequest"],
    ["not of a scale of another object", [], { uid: "v" }, "NoRequest"],
    ["several who scale", [scaled("bob", 3)], {}, "SeveralUsers"],
  ])("%s", (_, more, change, expected) => {
    expect(author([scaled("alice", 3), ...more], seen({ ...deployment, ...change }))).toBe(expected);
  });

  it("whoever sends what, and in whatever order, nobody is named who did not make the change", () => {
    const user = fc.constantFrom("alice", "bob");
    const write = fc.record({ user, value: fc.constantFrom("x", "y"), isRefused: fc.boolean(), isLate: fc.boolean() });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 6 }), (writes) => {
        // Each request is made on the version that is live, or on the one before, and then refused.
        let version = 1;
        let live = "old";
        const requests: JsonObject[] = [];
        const changes: { readonly by: string; readonly change: SeenChange }[] = [];
        for (const { user, value, isRefused, isLate } of writes) {
          const resourceVersion = `${isLate && isRefused ? version - 1 : version}`;
          requests.push(by(user, { object: object(value), oldObject: object(live, { resourceVersion }) }));
          if (isRefused || value === live) continue;
          changes.push({
            by: user,
            change: seen({ content: fingerprint(sanitised(object(value))), resourceVersion: `${version}` }),
          });
          version += 1;
          live = value;
        }
        for (const { by, change } of changes) expect([by, "SeveralUsers"]).toContain(author(requests, change));
      }),
      { numRuns: 500 },
    );
  });

  it("whichever requests were seen, who is named has sent exactly this one, and nobody else has", () => {
    const some = fc.constantFrom("1", "2");
    const write = fc.record({ user: fc.constantFrom("alice", "bob"), value: some, uid: some, version: some });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 5 }), write, (requests, made) => {
        const named = author(
          requests.map(({ user, value, uid, version }) =>
            by(user, { object: object(value, { uid }), oldObject: object("old", { uid, resourceVersion: version }) }),
          ),
          seen({
            content: fingerprint(sanitised(object(made.value))),
            uid: made.uid,
            resourceVersion: made.version,
          }),
        );
        const exact = requests.filter(
          ({ value, uid, version }) => value === made.value && uid === made.uid && version === made.version,
        );
        const [user = "NoRequest", ...others] = new Set(exact.map((one) => one.user));
        expect(named).toBe(others.length === 0 ? user : "SeveralUsers");
      }),
    );
  });
});

const entry = (user: string, at: number): Entry => ({ user, uid: "u", resourceVersion: "1", at });
const keyed = (key: string, user: string, at: number): KeyedEntry => ({ key, entry: entry(user, at) });

describe("entries", () => {
  it("are forgotten after their time", () => {
    const entries = correlationEntries({ ttl: 60, keys: 10, perKey: 10 });
    entries.put(keyed("a", "alice", 0));
    expect(entries.get("a", 59)).toHaveLength(1);
    expect(entries.get("a", 60)).toEqual([]);
    entries.put(keyed("b", "bob", 60));
    expect(entries.evictions()).toBe(0);
    const single = correlationEntries({ ttl: 60, keys: 10, perKey: 1 });
    for (const at of [0, 60]) single.put(keyed("a", "alice", at));
    expect(single.evictions()).toBe(0);
  });

  it("of too many keys the one that was put longest ago goes", () => {
    const entries = correlationEntries({ ttl: 60, keys: 2, perKey: 10 });
    for (const [at, key] of ["a", "b", "a", "c"].entries()) entries.put(keyed(key, "alice", at));
    expect(["a", "b", "c"].map((key) => entries.get(key, 4).length)).toEqual([2, 0, 1]);
    expect(entries.evictions()).toBe(1);
  });

  it("of too many of a key the oldest goes", () => {
    const entries = correlationEntries({ ttl: 60, keys: 2, perKey: 2 });
    for (const at of [0, 1, 2]) entries.put(keyed("a", "alice", at));
    expect(entries.get("a", 3).map(({ at }) => at)).toEqual([1, 2]);
    expect(entries.evictions()).toBe(1);
  });

  it("of too many of a key none is forgotten that is the only one of its user", () => {
    const entries = correlationEntries({ ttl: 60, keys: 2, perKey: 3 });
    for (const [at, user] of ["bob", "alice", "alice", "alice", "alice"].entries()) entries.put(keyed("a", user, at));
    expect(entries.get("a", 5).map(({ user, at }) => `${user} ${at}`)).toEqual(["bob 0", "alice 3", "alice 4"]);
    expect(entries.evictions()).toBe(2);
    const many = correlationEntries({ ttl: 60, keys: 2, perKey: 2 });
    for (const [at, user] of ["a", "b", "c"].entries()) many.put(keyed("a", user, at));
    expect(many.get("a", 3).map(({ user }) => user)).toEqual(["b", "c"]);
  });

  it("are the author of one change only", () => {
    const entries = correlationEntries();
    entries.put(keyed("a", "alice", 0));
    entries.put(keyed("a", "bob", 0));
    const [first] = entries.get("a", 0);
    expect(first?.user).toBe("alice");
    entries.remove("a", first ?? entry("", 0));
    expect(entries.get("a", 0).map(({ user }) => user)).toEqual(["bob"]);
    entries.remove("a", entries.get("a", 0)[0] ?? entry("", 0));
    expect(entries.get("a", 0)).toEqual([]);
  });

  it("whatever is put and removed, they have their bounds, and give only what is young", () => {
    const action = fc.record({
      key: fc.constantFrom("a", "b", "c", "d"),
      step: fc.integer({ min: 0, max: 20 }),
      removes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const entries = correlationEntries({ ttl: 50, keys: 3, perKey: 2 });
        let now = 0;
        for (const { key, step, removes } of actions) {
          now += step;
          const [one] = entries.get(key, now);
          if (removes && one !== undefined) entries.remove(key, one);
          else entries.put(keyed(key, "alice", now));
          const all = ["a", "b", "c", "d"].map((one) => entries.get(one, now));
          expect(all.filter(({ length }) => length > 0).length).toBeLessThanOrEqual(3);
          expect(all.flat().every(({ at }) => now - at < 50)).toBe(true);
          expect(Math.max(...all.map(({ length }) => length))).toBeLessThanOrEqual(2);
        }
      }),
    );
  });
});

/** What is done to the entries, at growing times. */
const step = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  user: fc.constantFrom("alice", "bob"),
  after: fc.integer({ min: 0, max: 30 }),
});
const LIMITS = { ttl: 50, keys: 2, perKey: 3 };

describe("KV semantics", () => {
  it("TTL: an entry is there for exactly its time", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.nat(200), (steps, later) => {
        const entries = correlationEntries({ ...LIMITS, keys: 3, perKey: 100 });
        let now = 0;
        const puts = steps.map(({ key, user, after }) => {
          now += after;
          entries.put(keyed(key, user, now));
          return { key, at: now };
        });
        const at = now + later;
        const left = ["a", "b", "c"].flatMap((key) => entries.get(key, at).map((one) => ({ key, at: one.at })));
        const young = puts.filter((put) => at - put.at < LIMITS.ttl);
        expect(left).toHaveLength(young.length);
        expect(left).toEqual(expect.arrayContaining(young));
        expect(entries.evictions()).toBe(0);
      }),
    );
  });

  it("LRU: of too many keys those are left that were put last", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const entries = correlationEntries({ ...LIMITS, ttl: 10_000 });
        for (const [at, { key, user }] of steps.entries()) entries.put(keyed(key, user, at));
        const last = [...new Set(steps.map(({ key }) => key).toReversed())].slice(0, LIMITS.keys);
        const left = ["a", "b", "c"].filter((key) => entries.get(key, steps.length).length > 0);
        expect(left.toSorted()).toEqual(last.toSorted());
      }),
    );
  });

  it("last write wins: of several requests of one user the newest is taken", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 10 }), (versions) => {
        const entries = correlationEntries();
        for (const [at, version] of versions.entries()) {
          const one = entryOf(by("alice", { oldObject: object("old", { resourceVersion: `${version}` }) }), at);
          if (one !== undefined) entries.put(one);
        }
        const [version = 0] = versions;
        const found = attributed(seen({ resourceVersion: `${version}` }), (key) => entries.get(key, 10));
        expect(found).toMatchObject({ type: "hit", entry: { user: "alice", at: versions.lastIndexOf(version) } });
      }),
    );
  });

  it("no dependence on resourceVersion order: any renaming of versions leaves the author the same", () => {
    const write = fc.record({ user: fc.constantFrom("alice", "bob"), version: fc.nat(4) });
    const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 5 }), fc.nat(4), names, (writes, version, others) => {
        const authorBy = (name: (version: number) => string): string =>
          author(
            writes.map((one) => by(one.user, { oldObject: object("old", { resourceVersion: name(one.version) }) })),
            seen({ resourceVersion: name(version) }),
          );
        expect(authorBy((at) => others[at] ?? "")).toBe(authorBy((at) => `${at}`));
      }),
    );
  });

  it("deterministic keys: whatever a webhook leaves out or adds, and in whatever order, one object has one key", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.string()),
        fc.string(),
        fc.nat(),
        (data, resourceVersion, generation) => {
          const asked = { ...object("", {}), data };
          const shown = {
            data: Object.fromEntries(Object.entries(data).toReversed()),
            kind: "ConfigMap",
            metadata: { ...object("").metadata, resourceVersion, generation, managedFields: [{ manager: "x" }] },
            apiVersion: "v1",
          };
          const keys = [asked, shown].map((one) => entryOf(by("alice", { object: one }), 0)?.key);
          expect(keys[0]).toBeDefined();
          expect(keys[1]).toBe(keys[0]);
        },
      ),
    );
  });
});
