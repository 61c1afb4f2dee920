import type { ResolvedChange } from "@janus/api";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import { showPath } from "../../../packages/controller/src/core/merge/show-path.ts";
import { asObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import { isMarked } from "../../../packages/controller/src/core/merge/marks.ts";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { apply, post, put } from "./thing-server.ts";
import { author, type Edit, manager, patch, place, thing, update, wish } from "./thing.ts";

type Write = (live: KubeObject) => KubeObject;
const edits =
  (by: string, fields: (live: KubeObject) => JsonObject): Write =>
  (live) => {
    const next = fields(live);
    const metadata = { ...live.metadata, ...(next["metadata"] as object | undefined) };
    return put(live, { ...live, ...next, metadata }, by);
  };
const applies =
  (by: string, fields: JsonObject): Write =>
  (live) =>
    apply(live, fields, by);

interface Case {
  readonly before: JsonObject;
  readonly change: Edit;
  readonly others?: readonly Write[];
  readonly result: JsonObject;
  readonly conflicts?: readonly string[];
}

const image = (tag: string, more: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ name: "web", image: tag, ...more }] },
});
/** Containers in this order, each as name=image. */
const containers = (...list: readonly string[]): JsonObject => ({
  spec: {
    containers: list.map((one) => {
      const [name = "", image = ""] = one.split("=");
      return { name, image };
    }),
  },
});
const data = (live: KubeObject, more: JsonObject): JsonObject => ({
  data: { ...(live["data"] as JsonObject), ...more },
});

const cases: Readonly<Record<string, Case>> = {
  "nothing else touched it": {
    before: { data: { a: "1", b: "1" }, metadata: { labels: { x: "y" } } },
    change: patch({ data: { a: "2", c: "2" }, metadata: { labels: { x: "z" }, annotations: { n: "1" } } }),
    result: { data: { a: "1", b: "1" }, metadata: { labels: { x: "y" } } },
  },
  "an autoscaler has set the replicas": {
    before: { spec: { replicas: 1, containers: [{ name: "web", image: "v1" }] } },
    change: patch(image("v2")),
    others: [edits("hpa", ({ spec }) => ({ spec: { ...(spec as JsonObject), replicas: 5 } }))],
    result: { spec: { replicas: 5, containers: [{ name: "web", image: "v1" }] } },
  },
  "a person has edited another key": {
    before: { data: { a: "1", b: "1" } },
    change: patch({ data: { a: "2" } }),
    others: [edits("person", (live) => data(live, { b: "3", c: "3" }))],
    result: { data: { a: "1", b: "3", c: "3" } },
  },
  "a person has edited the same key": {
    before: { data: { a: "1", b: "1" } },
    change: patch({ data: { a: "2", b: "2" } }),
    others: [edits("person", (live) => data(live, { a: "3" }))],
    result: { data: { a: "3", b: "1" } },
    conflicts: [".data.a"],
  },
  "a person has set it back by hand": {
    before: { data: { a: "1" } },
    change: patch({ data: { a: "2" } }),
    others: [edits("person", (live) => data(live, { a: "1" }))],
    result: { data: { a: "1" } },
  },
  "a GitOps tool has applied our value again": {
    before: { data: { a: "1", b: "1" } },
    change: patch({ data: { a: "2" } }),
    others: [applies("gitops", { data: { a: "2" } })],
    result: { data: { a: "2", b: "1" } },
    conflicts: [".data.a"],
  },
  "somebody has set a field of a list item that we added": {
    before: image("v1"),
    change: patch({ spec: { containers: [{ name: "side", image: "s1" }] } }),
    others: [applies("person", { spec: { containers: [{ name: "side", tag: "t" }] } })],
    result: {
      spec: {
        containers: [
          { name: "web", image: "v1" },
          { name: "side", tag: "t" },
        ],
      },
    },
  },
  "the order of a keyed list was another": {
    before: {
      spec: {
        containers: [
          { name: "b", image: "1" },
          { name: "a", image: "1" },
        ],
      },
    },
    change: update({
      spec: {
        containers: [
          { name: "a", image: "2" },
          { name: "b", image: "2" },
        ],
      },
    }),
    others: [applies("person", { spec: { containers: [{ name: "c", image: "3" }] } })],
    result: {
      spec: {
        containers: [
          { name: "b", image: "1" },
          { name: "a", image: "1" },
          { name: "c", image: "3" },
        ],
      },
    },
  },
  "a person has put an item before the one that the change has set": {
    before: containers("web=1"),
    change: patch(containers("web=2")),
    others: [edits("person", () => containers("backup=1", "web=2"))],
    result: containers("backup=1", "web=1"),
  },
  "a person has put the items into another order": {
    before: containers("a=1", "b=1", "c=1"),
    change: patch(containers("a=2", "c=1")),
    others: [edits("person", () => containers("c=1", "a=2", "b=1"))],
    result: containers("c=1", "a=1", "b=1"),
  },
  "a person has put the items into another order again": {
    before: containers("a=1", "b=1", "c=1"),
    change: update(containers("c=2", "b=2", "a=2")),
    others: [edits("person", () => containers("b=2", "c=2", "a=2"))],
    result: containers("b=1", "c=1", "a=1"),
    conflicts: [".spec.containers"],
  },
  "items that an Update has removed come where they were, after those before them": {
    before: containers("a=1", "b=1", "c=1", "d=1", "e=1"),
    change: update(containers("b=2", "e=2")),
    others: [edits("person", () => containers("e=2", "theirs=1", "b=2"))],
    result: containers("a=1", "e=1", "theirs=1", "b=1", "c=1", "d=1"),
  },
  "an item that an Update removed was added again by a person": {
    before: { spec: { containers: [{ name: "side", image: "1", tag: "1" }], replicas: 1 } },
    change: update({ spec: { replicas: 2 } }),
    others: [edits("person", () => ({ spec: { replicas: 2, containers: [{ name: "side", image: "3" }] } }))],
    result: { spec: { containers: [{ name: "side", image: "3" }], replicas: 1 } },
    conflicts: ['.spec.containers[name="side"]'],
  },
  "what an Update removed was set again by a person, of another type of a union": {
    before: { spec: { probe: { exec: { command: "x" }, period: 5 }, replicas: 1 } },
    change: update({ spec: { replicas: 2 } }),
    others: [edits("person", () => ({ spec: { replicas: 2, probe: { http: { port: 80 } } } }))],
    result: { spec: { probe: { http: { port: 80 } }, replicas: 1 } },
    conflicts: [".spec.probe"],
  },
  "a map that an Update removed has another key of a person": {
    before: { spec: { limits: { cpu: "1" }, replicas: 1 } },
    change: update({ spec: { replicas: 2 } }),
    others: [edits("person", () => ({ spec: { replicas: 2, limits: { memory: "1" } } }))],
    result: { spec: { limits: { cpu: "1", memory: "1" }, replicas: 1 } },
  },
  "somebody has added a finalizer, and we one and took one": {
    before: { metadata: { finalizers: ["x/a", "x/b"] } },
    change: update({ metadata: { finalizers: ["x/b", "x/c"] } }),
    others: [edits("person", () => ({ metadata: { finalizers: ["x/b", "x/c", "x/d"] } }))],
    result: { metadata: { finalizers: ["x/a", "x/b", "x/d"] } },
  },
  "somebody has written a list that is owned as a whole": {
    before: { spec: { args: ["1"], replicas: 1 } },
    change: patch({ spec: { args: ["2"], replicas: 2 } }),
    others: [edits("person", ({ spec }) => ({ spec: { ...(spec as JsonObject), args: ["2", "3"] } }))],
    result: { spec: { args: ["2", "3"], replicas: 1 } },
    conflicts: [".spec.args"],
  },
  "a key that an Update took out was added again by a person": {
    before: { data: { a: "1", b: "1" } },
    change: update({ data: { a: "1" } }),
    others: [edits("person", (live) => data(live, { b: "3" }))],
    result: { data: { a: "1", b: "3" } },
    conflicts: [".data.b"],
  },
  "a key that an Update does not know was added by a person": {
    before: { data: { a: "1" } },
    change: update({ data: { a: "2" } }),
    others: [edits("person", (live) => data(live, { b: "3" }))],
    result: { data: { a: "1", b: "3" } },
  },
  "what we set was taken out by a person": {
    before: { data: { a: "1", b: "1" } },
    change: patch({ data: { a: "2" } }),
    others: [edits("person", () => ({ data: { b: "1" } }))],
    result: { data: { b: "1" } },
    conflicts: [".data.a"],
  },
  "labels and annotations were added by others": {
    before: { data: { a: "1" } },
    change: patch({ data: { a: "2" }, metadata: { labels: { ours: "1" } } }),
    others: [
      edits("person", () => ({ metadata: { labels: { ours: "1", theirs: "1" }, annotations: { theirs: "1" } } })),
    ],
    result: { data: { a: "1" }, metadata: { labels: { theirs: "1" }, annotations: { theirs: "1" } } },
  },
  "a map that the change brought is gone with it": {
    before: { data: { a: "1" } },
    change: patch({ metadata: { labels: { x: "1" }, annotations: { y: "1" }, finalizers: ["x/a"] } }),
    result: { data: { a: "1" } },
  },
  "the API server did not keep the empty value that a Patch set": {
    before: { spec: { paused: true, replicas: 1 } },
    change: patch({ spec: { paused: false } }),
    result: { spec: { paused: true, replicas: 1 } },
  },
  "the API server did not keep the empty value that an Update set": {
    before: { spec: { paused: true, replicas: 1 } },
    change: update({ spec: { paused: false, replicas: 1 } }),
    result: { spec: { paused: true, replicas: 1 } },
  },
  "a person has set the same empty value, which the API server did not keep": {
    before: { spec: { paused: true, replicas: 1 } },
    change: patch({ spec: { paused: false, replicas: 2 } }),
    others: [applies("person", { spec: { paused: false } })],
    result: { spec: { replicas: 1 } },
    conflicts: [".spec.paused"],
  },
  "keys have names that JavaScript objects have": {
    before: { data: { ["__proto__"]: "1", constructor: "1" } },
    change: update({ data: { ["__proto__"]: "2", toString: "2" } }),
    result: { data: { ["__proto__"]: "1", constructor: "1" } },
  },
};

const shown = ({ metadata, ...rest }: KubeObject): JsonObject => {
  const { apiVersion: _, kind: __, ...fields } = rest;
  const kept = { labels: metadata.labels, annotations: metadata.annotations, finalizers: metadata.finalizers };
  const given = Object.entries(kept).filter(([, value]) => value !== undefined);
  return { ...fields, ...(given.length === 0 ? {} : { metadata: Object.fromEntries(given) }) } as JsonObject;
};

/** PUT after PUT until there is nothing more to do. */
const restored = (wish: ResolvedChange, before: KubeObject, live: KubeObject) => {
  let object = live;
  for (let puts = 0; puts < 3; puts += 1) {
    const { put: body, conflicts } = restoration(wish, place, before, object, author);
    if (body === undefined) return { object, conflicts: conflicts.map(showPath) };
    object = put(object, body, manager);
  }
  throw new Error("it takes more than two PUTs");
};

describe("a change is taken back where", () => {
  it.each(Object.entries(cases))("%s", (_, { before: fields, change, others = [], result, conflicts = [] }) => {
    const before = post(thing(fields), "kubectl");
    const body = changeBody(wish(change), place, before, author);
    const changed = change.type === "Patch" ? apply(before, body, manager) : put(before, body, manager);
    const end = restored(
      wish(change),
      before,
      others.reduce((live, write) => write(live), changed),
    );
    expect({ object: shown(end.object), conflicts: end.conflicts }).toEqual({ object: result, conflicts });
    expect(isMarked(end.object, author.uid)).toBe(false);
  });
});

describe("what differs although no client manages it, and the Transaction has no mark any more,", () => {
  const before = post(thing({ ...image("v1"), data: { a: "1" } }), "kubectl");
  const live = { ...before, ...image("v1") };
  const unclaimed = (fields: JsonObject): readonly string[] => {
    const end = restoration(wish(patch(image("v2"))), place, before, { ...live, ...fields }, author);
    expect(end.put).toBeUndefined();
    return end.unclaimed.map(showPath);
  };

  it("is named, once for all of it", () => {
    const injected = { name: "sidecar", image: "sidecar:1", env: [{ name: "A", value: "1" }] };
    const containers = [...(asObject(before["spec"])["containers"] as readonly Json[]), injected];
    expect(unclaimed({ spec: { containers } })).toEqual(['.spec.containers[name="sidecar"]']);
    expect(unclaimed(image("v1", { policy: "x" }))).toEqual(['.spec.containers[name="web"].policy']);
  });

  it("is not named where it had a manager, who has let go of it since", () => {
    const entries = before.metadata.managedFields?.map((entry) => ({
      ...entry,
      fieldsV1: { "f:spec": asObject(entry.fieldsV1?.["f:spec"]) },
    }));
    const metadata = { ...before.metadata, managedFields: entries };
    expect(unclaimed({ data: { a: "2" }, metadata } as unknown as JsonObject)).toEqual([]);
  });
});
