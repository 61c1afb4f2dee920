import type { Api, KubeObject, WatchEvent } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { configMaps } from "../../../../packages/controller/src/core/index.ts";

const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", uid: name, resourceVersion },
});

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
