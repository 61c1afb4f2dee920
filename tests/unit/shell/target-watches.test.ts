import * as E from "fp-ts/lib/Either.js";
import { expect, it, vi } from "vitest";
import type { Api, KubeObject } from "@janus/kube";
import { targetWatches } from "../../../packages/controller/src/shell/reconcile/target-watches.ts";
import { configMaps } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import { relativeCost } from "../../fixtures/relative-cost.ts";

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
  const watches = targetWatches(
    () => still(items),
    (_, index) => told.push(index),
  );
  const targets = Array.from({ length: 500 }, (_, index) => ({
    index,
    place: { resource: configMaps, namespace: "shop", name: `a-${index}` },
    resourceVersion: index === 7 ? "2" : "1",
  }));
  const cost = await relativeCost(async () => {
    watches.join({ uid: "uid", namespace: "shop", as: { user: "deploy-sa" } }, targets);
    await vi.waitFor(() => expect(told).toHaveLength(499), 30_000);
  });
  expect(cost).toBeLessThan(30);
  expect(told).not.toContain(7);
  watches.stop();
});

it("tells whoever comes later that the target has gone meanwhile", async () => {
  const told: string[] = [];
  const watches = targetWatches(
    () => still([object("a")]),
    (uid) => told.push(uid),
  );
  const wait = (uid: string, name: string, resourceVersion: string | undefined): void => {
    const place = { resource: configMaps, namespace: "shop", name };
    watches.join({ uid, namespace: "shop", as: { user: "deploy-sa" } }, [{ index: 0, place, resourceVersion }]);
  };
  wait("first", "a", "1");
  await vi.waitFor(() => expect(told).toEqual(["first"]));
  wait("absent", "b", undefined);
  wait("second", "b", "1");
  await vi.waitFor(() => expect(told).toEqual(["first", "second"]));
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
  const watches = targetWatches(
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
  );
  const wait = (uid: string, ...names: readonly string[]): void => {
    const targets = names.map((name, index) => {
      const place = { resource: configMaps, namespace: "shop", name };
      return { index, place, resourceVersion: "1" };
    });
    watches.join({ uid, namespace: "shop", as: { user: "deploy-sa" } }, targets);
  };
  wait("first", "a");
  await vi.waitFor(() => expect(told).toEqual(["first/0"]));
  wait("same", "a");
  await vi.waitFor(() => expect(told).toEqual(["first/0", "same/0"]));
  expect(listed).toEqual(["metadata.name=a"]);

  wait("other", "b");
  await vi.waitFor(() => expect(told).toContain("other/0"));
  expect(listed).toEqual(["metadata.name=a", undefined]);
  expect(ended).toEqual(["metadata.name=a"]);

  for (const uid of ["first", "same", "other"]) watches.leave(uid);
  wait("both", "a", "b");
  await vi.waitFor(() => expect(told).toEqual(expect.arrayContaining(["both/0", "both/1"])));
  expect(listed).toEqual(["metadata.name=a", undefined, undefined]);
  watches.stop();
});

it("asks for the very name, whatever characters it has", async () => {
  const listed: (string | undefined)[] = [];
  const api = still([]);
  const watches = targetWatches(
    () => ({
      ...api,
      send: (request) => {
        if (request.verb === "list") listed.push(request.fieldSelector);
        return api.send(request);
      },
    }),
    () => undefined,
  );
  const place = { resource: configMaps, namespace: "shop", name: "a,b=c\\d" };
  watches.join({ uid: "first", namespace: "shop", as: { user: "deploy-sa" } }, [
    { index: 0, place, resourceVersion: "1" },
  ]);
  await vi.waitFor(() => expect(listed).toEqual(["metadata.name=a\\,b\\=c\\\\d"]));
  watches.stop();
});
