import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Api, ApiError, KubeObject, WatchEvent } from "@janus/kube";
import { TARGET_WATCHES } from "../../../../packages/controller/src/shell/limits.ts";
import { JOBS } from "../../../../packages/controller/src/shell/reconcile/finishing-jobs.ts";
import { type Finishing, objectWatches } from "../../../../packages/runtime/src/watch/object-watches.ts";
import { configMaps } from "../../../../packages/controller/src/core/kubernetes/kube-object.ts";
import { relativeCost } from "../../../fixtures/relative-cost.ts";

const object = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", uid: name, resourceVersion: "2" },
});

/** An API server that has these objects, and on which nothing happens. */
const still = (items: readonly KubeObject[]): Api => ({
  send: () => Promise.resolve(E.right({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "9" }, items })),
  watch: async function* (_, signal) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    yield* [];
  },
});

it("tells of each target once, and takes no longer for it where many are waited for among many objects", async () => {
  const items = Array.from({ length: 40_000 }, (_, at) => object(`a-${at}`));
  const told: number[] = [];
  const watches = objectWatches(
    () => still(items),
    (_, index) => told.push(index),
    TARGET_WATCHES,
    JOBS,
  );
  const targets = Array.from({ length: 500 }, (_, index) => ({
    index,
    place: { resource: configMaps, namespace: "shop", name: `a-${index}` },
    resourceVersion: index === 7 ? "2" : "1",
  }));
  const cost = await relativeCost(async () => {
    watches.join({ uid: "uid", namespace: "shop", as: { user: "deploy-sa" } }, targets);
    await vi.waitFor(() => expect(told).toHaveLength(499), 120_000);
  });
  expect(cost).toBeLessThan(30);
  expect(told).not.toContain(7);
  watches.stop();
});

it("tells whoever comes later that the target has gone meanwhile", async () => {
  const told: string[] = [];
  const watches = objectWatches(
    () => still([object("a")]),
    (uid) => told.push(uid),
    TARGET_WATCHES,
    JOBS,
  );
  const wait = (uid: string, name: string, resourceVersion: string | undefined): void => {
    const place = { resource: configMaps, namespace: "shop", name };
    watches.join({ uid, namespace: "shop", as: { user: "deploy-sa" } }, [{ index: 0, place, resourceVersion }]);
  };
  wait("first", "a", "1");
  await vi.waitFor(() => expect(told).toEqual(["first"]), 120_000);
  wait("absent", "b", undefined);
  wait("second", "b", "1");
  await vi.waitFor(() => expect(told).toEqual(["first", "second"]), 120_000);
  wait("second", "b", "1");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(told).toEqual(["first", "second"]);
  watches.stop();
});

it("watches the one object that is waited for, and all of them as soon as there are two", async () => {
  const listed: (string | undefined)[] = [];
  const ended: (string | undefined)[] = [];
  const api = still([object("a"), object("b")]);
  const told: string[] = [];
  const watches = objectWatches(
    () => ({
      send: (request) => {
        if (request.verb === "list") listed.push(request.fieldSelector);
        return api.send(request);
      },
      watch: (request, signal) => {
        signal.addEventListener("abort", () => ended.push(request.fieldSelector));
        return api.watch(request, signal);
      },
    }),
    (uid, index) => told.push(`${uid}/${index}`),
    TARGET_WATCHES,
    JOBS,
  );
  const wait = (uid: string, ...names: readonly string[]): void => {
    const targets = names.map((name, index) => {
      const place = { resource: configMaps, namespace: "shop", name };
      return { index, place, resourceVersion: "1" };
    });
    watches.join({ uid, namespace: "shop", as: { user: "deploy-sa" } }, targets);
  };
  wait("first", "a");
  await vi.waitFor(() => expect(told).toEqual(["first/0"]), 120_000);
  wait("same", "a");
  await vi.waitFor(() => expect(told).toEqual(["first/0", "same/0"]), 120_000);
  expect(listed).toEqual(["metadata.name=a"]);

  wait("other", "b");
  await vi.waitFor(() => expect(told).toContain("other/0"), 120_000);
  expect(listed).toEqual(["metadata.name=a", undefined]);
  expect(ended).toEqual(["metadata.name=a"]);

  for (const uid of ["first", "same", "other"]) watches.leave(uid);
  wait("both", "a", "b");
  await vi.waitFor(() => expect(told).toEqual(expect.arrayContaining(["both/0", "both/1"])), 120_000);
  expect(listed).toEqual(["metadata.name=a", undefined, undefined]);
  watches.stop();
});

it("asks for the very name, whatever characters it has", async () => {
  const listed: (string | undefined)[] = [];
  const api = still([]);
  const watches = objectWatches(
    () => ({
      ...api,
      send: (request) => {
        if (request.verb === "list") listed.push(request.fieldSelector);
        return api.send(request);
      },
    }),
    () => undefined,
    TARGET_WATCHES,
    JOBS,
  );
  const place = { resource: configMaps, namespace: "shop", name: "a,b=c\\d" };
  watches.join({ uid: "first", namespace: "shop", as: { user: "deploy-sa" } }, [
    { index: 0, place, resourceVersion: "1" },
  ]);
  await vi.waitFor(() => expect(listed).toEqual(["metadata.name=a\\,b\\=c\\\\d"]), 120_000);
  watches.stop();
});

/** An object that counts how often it is copied. */
const counting = (name: string, onCopy: () => void): KubeObject => {
  const metadata = { name, namespace: "shop", resourceVersion: "2" };
  const get = (): string => {
    onCopy();
    return name;
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: Object.defineProperty(metadata, "uid", { get }) };
};

it("keeps nothing of the objects that nobody waits for", async () => {
  let copied = 0;
  const items = Array.from({ length: 10_000 }, (_, at) => counting(`a-${at}`, () => (copied += 1)));
  const told: number[] = [];
  let seen = 0;
  const watches = objectWatches(
    () => ({
      ...still(items),
      watch: async function* (_, signal) {
        for (const item of items) {
          seen += 1;
          yield await Promise.resolve(E.right({ type: "MODIFIED" as const, object: item }));
        }
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    }),
    (_, index) => told.push(index),
    TARGET_WATCHES,
    JOBS,
  );
  const targets = [0, 1, 2].map((index) => ({
    index,
    place: { resource: configMaps, namespace: "shop", name: `a-${index}` },
    resourceVersion: "1",
  }));
  watches.join({ uid: "uid", namespace: "shop", as: { user: "deploy-sa" } }, targets);
  await vi.waitFor(() => expect(told).toEqual([0, 1, 2]), 120_000);
  await vi.waitFor(() => expect(seen).toBe(items.length), 120_000);
  watches.stop();
  expect(copied).toBeLessThanOrEqual(4 * targets.length);
});

/** A Job that is waited for, and the versions of it that the watch tells of. */
const versionsOfJob = (...statuses: readonly object[]): readonly KubeObject[] =>
  statuses.map((status, at) => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "a", namespace: "shop", uid: "a", resourceVersion: `${at + 1}` },
    status,
  }));

describe("an object that finishes soon after other changes", () => {
  const [first, ...others] = versionsOfJob(
    {},
    { active: 1 },
    { active: 1, ready: 1 },
    { conditions: [{ type: "Complete", status: "True" }], succeeded: 1 },
  );
  const toldOf = async (finishing: Finishing, versions: readonly KubeObject[]): Promise<readonly string[]> => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const told: string[] = [];
    const since = Date.now();
    const watches = objectWatches(
      () => ({
        ...still(first === undefined ? [] : [first]),
        watch: async function* (_, signal) {
          for (const job of versions) yield await Promise.resolve(E.right({ type: "MODIFIED" as const, object: job }));
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      }),
      (_, __, finished) => told.push(`${finished === undefined ? "changed" : "finished"} ${Date.now() - since}`),
      TARGET_WATCHES,
      finishing,
    );
    onTestFinished(() => watches.stop());
    const resource = { ...configMaps, group: "batch", plural: "jobs", kind: "Job" };
    watches.join({ uid: "uid", namespace: "shop", as: { user: "deploy-sa" } }, [
      { index: 0, place: { resource, namespace: "shop", name: "a" }, resourceVersion: "1" },
    ]);
    await vi.advanceTimersByTimeAsync(60_000);
    return told;
  };

  it("is told of at once, and no second time", async () => {
    const [change, , end] = others;
    const versions = [change, end].filter((one) => one !== undefined);
    expect(await toldOf(JOBS, versions)).toEqual(["changed 0", "finished 0"]);
  });

  it("is told of once, where other changes are to settle", async () => {
    expect(await toldOf({ ...JOBS, settle: 100 }, others)).toEqual(["finished 0"]);
  });

  it("is told of once for all changes that settle, where it does not finish", async () => {
    expect(await toldOf({ ...JOBS, settle: 100 }, others.slice(0, 2))).toEqual(["changed 100"]);
  });
});

const LOST: ApiError = { type: "unanswered", cause: "deadline", message: "" };

/** A watch of `a` and `b` that has passed over all others, and what `later` is told; `reads` of single objects. */
const passedOver = async (readOne: (name: string) => readonly KubeObject[] | undefined) => {
  const events: ((event: WatchEvent) => void)[] = [];
  const reads: string[] = [];
  const told: string[] = [];
  const api = still(["a", "b", "c"].map(object));
  const watches = objectWatches(
    () => ({
      send: async (request) => {
        const selector = request.verb === "list" ? request.fieldSelector : undefined;
        if (selector === undefined) return api.send(request);
        const name = selector.replace("metadata.name=", "");
        reads.push(name);
        const items = readOne(name);
        return items === undefined ? E.left(LOST) : still(items).send(request);
      },
      watch: async function* (_, signal) {
        while (!signal.aborted)
          yield E.right(await new Promise<WatchEvent>((resolve) => events.push((event) => resolve(event))));
      },
    }),
    (uid) => told.push(uid),
    TARGET_WATCHES,
    JOBS,
  );
  onTestFinished(() => watches.stop());
  const join = (uid: string, resourceVersion: string | undefined, ...names: readonly string[]): void => {
    const targets = names.map((name, index) => {
      const place = { resource: configMaps, namespace: "shop", name };
      return { index, place, resourceVersion };
    });
    watches.join({ uid, namespace: "shop", as: { user: "deploy-sa" } }, targets);
  };
  join("first", "1", "a", "b");
  await vi.waitFor(() => expect(told).toEqual(["first", "first"]), 120_000);
  told.length = 0;
  const happens = async (type: "MODIFIED" | "DELETED", name: string, resourceVersion: string): Promise<void> => {
    const tell = await vi.waitFor(() => {
      const next = events.shift();
      if (next === undefined) throw new Error("the watch is not read");
      return next;
    }, 300_000);
    const { metadata, ...rest } = object(name);
    tell({ type, object: { ...rest, metadata: { ...metadata, resourceVersion } } });
    await vi.waitFor(() => expect(events).not.toEqual([]), 120_000);
  };
  return { join, leave: watches.leave, happens, reads, told };
};

describe("a target that is waited for after the watch has passed it over", () => {
  it("is read once, and its changes from then on are told", async () => {
    const { join, happens, reads, told } = await passedOver((name) => [object(name)]);
    join("later", "2", "c");
    join("later", "2", "c");
    await vi.waitFor(() => expect(reads).toEqual(["c"]), 120_000);
    await happens("MODIFIED", "d", "8");
    expect(told).toEqual([]);
    await happens("MODIFIED", "c", "3");
    expect(told).toEqual(["later"]);
  });

  it.for([
    ["changed", "1", [object("c")]],
    ["was deleted", "2", []],
    ["was created", undefined, [object("c")]],
    ["cannot be read", "2", undefined],
  ] as const)("is told once if it %s meanwhile", async ([, version, items]) => {
    const { join, happens, reads, told } = await passedOver(() => items);
    join("later", version, "c");
    await vi.waitFor(() => expect(told).toEqual(["later"]), 120_000);
    join("later", version, "c");
    await happens("MODIFIED", "d", "8");
    expect(told).toEqual(["later"]);
    expect(reads).toEqual(["c"]);
  });

  it("is not known from an earlier time, when others waited for it", async () => {
    let c = object("c");
    const { join, leave, happens, told, reads } = await passedOver(() => [c]);
    join("earlier", "2", "c");
    await vi.waitFor(() => expect(reads).toEqual(["c"]), 120_000);
    leave("earlier");
    await happens("MODIFIED", "c", "3");
    c = { ...c, metadata: { ...c.metadata, resourceVersion: "3" } };
    join("later", "2", "c");
    await vi.waitFor(() => expect(told).toEqual(["later"]), 120_000);
    expect(reads).toEqual(["c", "c"]);
  });
});
