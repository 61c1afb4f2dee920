import type { ApiError, KubeObject } from "@janus/kube";
import {
  eventsOf,
  initialReflectorState,
  type ReflectorInput,
  type ReflectorState,
  reflectorStep,
} from "@janus/runtime/parts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const object = (name: string, resourceVersion: string, uid = name): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "ns", name, uid, resourceVersion },
});
const page = (items: readonly KubeObject[], next = "", resourceVersion = "10"): ReflectorInput => ({
  type: "page",
  page: { items, next, resourceVersion },
  limit: 64,
});
const gone: ApiError = { type: "refused", code: 410, reason: "Expired", message: "too old", causes: [] };
const reset: ApiError = { type: "unanswered", cause: "connection", message: "reset" };
const failed = (error: ApiError): ReflectorInput => ({ type: "failed", error });
const ended: ReflectorInput = { type: "ended" };
const waited: ReflectorInput = { type: "waited" };
const added = (what: KubeObject): ReflectorInput => ({ type: "event", event: { type: "ADDED", object: what } });
const bookmark = (resourceVersion: string): ReflectorInput => ({
  type: "event",
  event: { type: "BOOKMARK", resourceVersion },
});

const watching: ReflectorState = { type: "watching", from: "10", hasEvents: false, failures: 0 };
const [a, b] = [object("a", "1"), object("b", "2")];

/** The states passed through, with jitter at its longest. */
const through = (from: ReflectorState, ...inputs: readonly ReflectorInput[]): ReflectorState =>
  inputs.reduce((state, input) => reflectorStep(state, input, 1)[0], from);

describe("a reflector", () => {
  it("lists page by page, then watches from where the list was taken", () => {
    const [second, early] = reflectorStep(initialReflectorState, page([a], "more"), 1);
    expect(second).toEqual({ type: "listing", have: [a], ahead: [], next: "more", limit: 64, failures: 0 });
    expect(early).toBeUndefined();
    expect(reflectorStep(second, page([b]), 1)).toEqual([watching, { type: "all", objects: [a, b] }]);
  });

  it("tells of those that come first, and goes on listing", () => {
    const some: ReflectorInput = { type: "some", objects: [b] };
    expect(reflectorStep(initialReflectorState, some, 1)).toEqual([initialReflectorState, some]);
  });

  it("believes those that come first rather than an earlier page, where they are listed again", () => {
    const [former, later] = [object("b", "2"), object("b", "5")];
    const second = through(initialReflectorState, { type: "some", objects: [former] }, page([a], "more"));
    const last = through(second, { type: "some", objects: [later] });
    expect(reflectorStep(last, page([former]), 1)[1]).toEqual({ type: "all", objects: [a, former, later] });
    expect(eventsOf({ type: "all", objects: [a, former, later] }, new Map())).toEqual([
      { type: "applied", object: a },
      { type: "applied", object: later },
      { type: "synced" },
    ]);
  });

  it("asks for a page that was too large again, with fewer objects", () => {
    const large = failed({ type: "unanswered", cause: "too-large", message: "too large" });
    const second = through(initialReflectorState, page([a], "more"));
    expect(through(second, large)).toEqual({ ...second, limit: 16 });
    expect(through(second, large, large, large)).toEqual({ ...second, limit: 1 });
    expect(through(second, large, large, large, large)).toMatchObject({ type: "waiting", failures: 1 });
  });

  it("tells of every change, and remembers how far it got", () => {
    expect(reflectorStep(watching, added(object("a", "11")), 1)).toEqual([
      { ...watching, from: "11", hasEvents: true },
      { type: "applied", object: object("a", "11") },
    ]);
    const removed: ReflectorInput = { type: "event", event: { type: "DELETED", object: object("a", "12") } };
    expect(reflectorStep(watching, removed, 1)).toEqual([
      { ...watching, from: "12", hasEvents: true },
      { type: "deleted", object: object("a", "12") },
    ]);
    expect(reflectorStep(watching, bookmark("15"), 1)).toEqual([{ ...watching, from: "15", hasEvents: true }]);
  });

  it("watches on from there when the server ends a watch in the usual way", () => {
    expect(through(watching, bookmark("15"), ended)).toEqual({ ...watching, from: "15" });
  });

  it.each([
    ["410", gone],
    ["a lost connection", reset],
  ])("lists anew after %s", (_, error) => {
    const waiting = through(watching, bookmark("15"), failed(error));
    expect(waiting).toMatchObject({ type: "waiting", failures: 1 });
    expect(through(waiting, waited)).toEqual({ ...initialReflectorState, failures: 1 });
  });

  it("does not trust a watch that ended without a word", () => {
    expect(through(watching, ended)).toMatchObject({ type: "waiting", failures: 1 });
    expect(through(watching, bookmark("15"), ended, ended)).toMatchObject({ type: "waiting", failures: 1 });
  });

  it("starts a list over that failed between two pages", () => {
    expect(through(initialReflectorState, page([a], "more"), failed(gone), waited)).toEqual({
      ...initialReflectorState,
      failures: 1,
    });
  });

  it("waits longer with every failure, up to half a minute, until a watch delivers something", () => {
    const waits: number[] = [];
    let state = initialReflectorState;
    for (let at = 0; at < 9; at += 1) {
      state = through(state, page([a]), failed(gone));
      waits.push(state.type === "waiting" ? state.ms : 0);
      state = through(state, waited);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    expect(through(state, page([a]), added(b), failed(reset))).toMatchObject({ ms: 500, failures: 1 });
  });

  it("waits as long as the server asks", () => {
    expect(through(initialReflectorState, failed({ ...gone, code: 429, retryAfter: 90_000 }))).toMatchObject({
      ms: 90_000,
    });
  });

  it("finds what changed in a gap: new, moved, gone, and replaced under the same name", () => {
    const store = new Map([
      ["ns/same", object("same", "1")],
      ["ns/moved", object("moved", "2")],
      ["ns/gone", object("gone", "3")],
      ["ns/again", object("again", "4", "first")],
    ]);
    const now = [object("same", "1"), object("moved", "9"), object("again", "8", "second"), object("new", "7")];
    expect(eventsOf({ type: "all", objects: now }, store)).toEqual([
      { type: "deleted", object: object("gone", "3") },
      { type: "deleted", object: object("again", "4", "first") },
      { type: "applied", object: object("moved", "9") },
      { type: "applied", object: object("again", "8", "second") },
      { type: "applied", object: object("new", "7") },
      { type: "synced" },
    ]);
  });

  it("ends up with what exists, whatever it missed before", () => {
    const objects = fc
      .uniqueArray(fc.record({ name: fc.constantFrom("a", "b", "c"), uid: fc.nat(2), version: fc.nat(5) }), {
        selector: ({ name }) => name,
      })
      .map((list) => list.map(({ name, uid, version }) => object(name, `${uid}.${version}`, `${uid}`)));
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        const store = new Map(before.map((one) => [`ns/${one.metadata.name}`, one]));
        for (const event of eventsOf({ type: "all", objects: after }, new Map(store))) {
          if (event.type === "applied") store.set(`ns/${event.object.metadata.name}`, event.object);
          if (event.type === "deleted") store.delete(`ns/${event.object.metadata.name}`);
        }
        expect(new Set(store.values())).toEqual(new Set(after));
      }),
    );
  });
});
