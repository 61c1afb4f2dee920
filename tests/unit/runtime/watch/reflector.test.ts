import type { Api, ApiError, KubeObject, WatchEvent } from "@janus/kube";
import { type ReflectedBy, startReflector } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { configMaps } from "../../../../packages/controller/src/core/index.ts";

const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", uid: name, resourceVersion },
});

/** A watch that shows nothing until it is aborted. */
const withoutEvents: Api["watch"] = async function* (_, signal) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield E.left({ type: "unanswered", cause: "aborted", message: "it is over" });
};

it("stores and reports only what is wanted, whatever the server lists and watches", async () => {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const wanted = new Set(["shop/a", "shop/left", "shop/new"]);
  const events: readonly WatchEvent[] = [
    { type: "MODIFIED", object: object("other", "3") },
    { type: "ADDED", object: object("new", "4") },
    { type: "DELETED", object: object("gone", "5") },
    { type: "MODIFIED", object: object("left", "6") },
    { type: "MODIFIED", object: object("a", "7") },
  ];
  const pages = [["a", "other"], ["left"], ["gone"]];
  const api: Api = {
    send: async (request) => {
      const at = request.verb === "list" ? Number(request.continue ?? "0") : 0;
      // It is no longer wanted when all pages have been read.
      if (at === 2) wanted.delete("shop/left");
      const metadata = { resourceVersion: "2", ...(at < 2 ? { continue: `${at + 1}` } : {}) };
      const items = (pages[at] ?? []).map((name) => object(name, "1"));
      return Promise.resolve(E.right({ apiVersion: "v1", kind: "List", metadata, items }));
    },
    watch: async function* (_, signal) {
      for (const event of events) yield await Promise.resolve(E.right(event));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  const told: string[] = [];
  const { store, forget } = startReflector(
    api,
    { resource: configMaps, namespace: "shop" },
    {
      signal: ended.signal,
      isWanted: (key) => wanted.has(key),
      onEvent: (event) =>
        told.push("object" in event ? `${event.object.metadata.name} ${event.object.metadata.resourceVersion}` : ""),
    },
  );
  await expect.poll(() => told).toEqual(["a 1", "", "new 4", "a 7"]);
  expect([...store.keys()]).toEqual(["shop/a", "shop/new"]);
  forget("shop/a");
  expect([...store.keys()]).toEqual(["shop/new"]);
});

/** A server with these objects, some of which are selected; what a reflector of it has told, and what it was asked. */
const bench = (all: () => readonly KubeObject[], some: () => E.Either<ApiError, readonly KubeObject[]>) => {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const [rest, gap] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [told, asked, errors]: readonly [string[], string[], (readonly [ApiError, ReflectedBy])[]] = [[], [], []];
  let watches = 0;
  const api: Api = {
    send: async (request) => {
      const selector = request.verb === "list" ? request.fieldSelector : undefined;
      asked.push(selector ?? "all");
      if (selector === undefined) await rest.promise;
      const items = selector === undefined ? E.right(all()) : some();
      return E.map((items: readonly KubeObject[]): KubeObject => {
        return { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "9" }, items };
      })(items);
    },
    watch: async function* (_, signal) {
      asked.push("watch");
      watches += 1;
      if (watches === 1) await gap.promise;
      else await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield E.left({ type: "refused", code: 410, reason: "Expired", message: "too old", causes: [] });
    },
  };
  const { store } = startReflector(
    api,
    { resource: configMaps },
    {
      signal: ended.signal,
      first: "status.phase!=Done",
      random: () => 0,
      onError: (error, by) => errors.push([error, by]),
      onEvent: (event) =>
        told.push(
          event.type === "synced"
            ? "synced"
            : `${event.type} ${event.object.metadata.uid} ${event.object.metadata.resourceVersion}`,
        ),
    },
  );
  return { store, told, asked, errors, openRest: rest.resolve, openGap: gap.resolve };
};

describe("those that come first", () => {
  it("are reported before all others are listed, and once", async () => {
    const [a, b, moved] = [object("a", "1"), object("b", "2"), object("c", "4")];
    const { store, told, asked, openRest } = bench(
      () => [a, b, moved],
      () => E.right([b, object("c", "3")]),
    );
    await expect.poll(() => told).toEqual(["applied b 2", "applied c 3"]);
    expect([...store.keys()]).toEqual(["shop/b", "shop/c"]);
    openRest();
    await expect.poll(() => told.slice(2)).toEqual(["applied a 1", "applied c 4", "synced"]);
    await expect.poll(() => [...new Set(asked)]).toEqual(["status.phase!=Done", "all", "watch"]);
  });

  it("are listed again and again while the others are, and what has changed is reported", async () => {
    let some = [object("a", "1"), object("b", "1")];
    const { told, asked, openRest } = bench(
      () => [object("a", "2"), object("c", "1")],
      () => E.right(some),
    );
    await expect.poll(() => told).toEqual(["applied a 1", "applied b 1"]);
    some = [object("a", "2")];
    await expect.poll(() => told.slice(2)).toEqual(["applied a 2"]);
    await expect.poll(() => asked.length).toBeGreaterThan(5);
    openRest();
    await expect.poll(() => told.slice(3)).toEqual(["deleted b 1", "applied c 1", "synced"]);
  });

  it("do not hide that another object had their name, and are not all there is", async () => {
    const [kept, former] = [object("kept", "1"), object("a", "2")];
    const next = { ...former, metadata: { ...former.metadata, uid: "next", resourceVersion: "5" } };
    let [all, some]: readonly KubeObject[][] = [[kept, former], []];
    const { store, told, openRest, openGap } = bench(
      () => all ?? [],
      () => E.right(some ?? []),
    );
    openRest();
    await expect.poll(() => told).toEqual(["applied kept 1", "applied a 2", "synced"]);
    [all, some] = [[kept, next], [next]];
    openGap();
    await expect.poll(() => told.slice(3)).toEqual(["deleted a 2", "applied next 5", "synced"]);
    expect([...store.values()]).toEqual([kept, next]);
  });

  it("come with the others where the server cannot select them, which is no failure", async () => {
    const { told, asked, errors, openRest } = bench(
      () => [object("a", "1")],
      () =>
        E.left({ type: "refused", code: 400, reason: "BadRequest", message: "field label not supported", causes: [] }),
    );
    openRest();
    await expect.poll(() => told).toEqual(["applied a 1", "synced"]);
    await expect.poll(() => asked).toEqual(["status.phase!=Done", "all", "watch"]);
    expect(errors).toEqual([]);
  });

  it("are listed again after a pause when that has failed, before any others", async () => {
    const busy: ApiError = { type: "refused", code: 429, reason: "TooManyRequests", message: "busy", causes: [] };
    let failures = 1;
    const { told, asked, errors } = bench(
      () => [],
      () => (failures-- > 0 ? E.left(busy) : E.right([object("a", "1")])),
    );
    await expect.poll(() => told).toEqual(["applied a 1"]);
    await expect.poll(() => asked.slice(0, 3)).toEqual(["status.phase!=Done", "status.phase!=Done", "all"]);
    expect(errors).toEqual([[busy, "list"]]);
  });

  it("are done without between the pages, where they cannot be listed", async () => {
    const ended = new AbortController();
    onTestFinished(() => ended.abort());
    let lists = 0;
    const gate = Promise.withResolvers<void>();
    const errors: ApiError[] = [];
    const api: Api = {
      send: async (request) => {
        if (request.verb !== "list") throw new Error("it only lists");
        const isAll = request.fieldSelector === undefined;
        lists += isAll ? 0 : 1;
        if (isAll) await gate.promise;
        const metadata = {
          resourceVersion: "2",
          ...(isAll && request.continue === undefined ? { continue: "1" } : {}),
        };
        const items = [object(request.continue === undefined ? "a" : "b", "1")];
        return Promise.resolve(
          lists > 1 && !isAll
            ? E.left({ type: "refused", code: 429, reason: "TooManyRequests", message: "busy", causes: [] })
            : E.right({ apiVersion: "v1", kind: "List", metadata, items }),
        );
      },
      watch: withoutEvents,
    };
    const { store, synced } = startReflector(
      api,
      { resource: configMaps },
      { signal: ended.signal, first: "status.phase!=Done", onError: (error) => errors.push(error), onEvent: () => {} },
    );
    await expect.poll(() => lists).toBeGreaterThan(2);
    gate.resolve();
    await synced;
    expect([...store.keys()]).toEqual(["shop/a", "shop/b"]);
    expect(errors).toEqual([]);
  });

  it("are listed again no longer than the others are, however many they are", async () => {
    const ended = new AbortController();
    onTestFinished(() => ended.abort());
    const pages = 50;
    const asked: string[] = [];
    const api: Api = {
      send: async (request) => {
        if (request.verb !== "list") throw new Error("it only lists");
        const at = Number(request.continue ?? "0");
        asked.push(request.fieldSelector ?? "all");
        await new Promise((resolve) => setTimeout(resolve, 20));
        const metadata = { resourceVersion: "2", ...(at + 1 < pages ? { continue: `${at + 1}` } : {}) };
        return E.right({ apiVersion: "v1", kind: "List", metadata, items: [object(`${at}`, "1")] });
      },
      watch: withoutEvents,
    };
    const options = { signal: ended.signal, first: "status.phase!=Done", onEvent: () => {} };
    await startReflector(api, { resource: configMaps }, options).synced;
    expect(asked.filter((selector) => selector === "all")).toHaveLength(pages);
    expect(asked.length).toBeLessThanOrEqual(4 * pages);
  });
});
