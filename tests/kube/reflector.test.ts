import type { Api, ApiError } from "@janus/kube";
import { keyOf, startReflector, type Reflector, type ReflectorEvent } from "@janus/runtime/parts";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";

import { configMap, right, sharedClient } from "./client.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const api = sharedClient();

/** Of the ConfigMaps of a new namespace that are labelled `mine`. */
const bench = async (through: (api: Api) => Api = (api) => api) => {
  const namespace = await freshNamespace();
  const log: string[] = [];
  const errors: ApiError[] = [];
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const begin = (): Reflector =>
    startReflector(
      through(api),
      { resource: configMaps, namespace, labelSelector: "mine" },
      {
        signal: ended.signal,
        onError: (error) => errors.push(error),
        onEvent: (event) => log.push(text(event)),
      },
    );
  const to = (name: string) => ({ resource: configMaps, namespace, name });
  const create = async (name: string) =>
    right(
      await api.send({
        verb: "create",
        resource: configMaps,
        namespace,
        body: configMap(name, {}, { labels: { mine: "" } }),
      }),
    );
  const edit = async (name: string) =>
    right(await api.send({ verb: "mergePatch", ...to(name), body: { data: { x: "y" } } }));
  const remove = async (name: string) => right(await api.send({ verb: "delete", ...to(name) }));
  return { namespace, log, errors, ended, begin, create, edit, remove };
};

const names = ({ store }: Reflector) => new Set([...store.values()].map(({ metadata }) => metadata.name));

const text = (event: ReflectorEvent) =>
  event.type === "synced" ? event.type : `${event.type} ${event.object.metadata.name}`;

describe("a reflector", () => {
  it("remembers of an object what it is told to, from lists and watches", async () => {
    const { namespace, ended, create, edit } = await bench();
    await create("listed");
    const told: unknown[] = [];
    const { store, synced } = startReflector(
      api,
      { resource: configMaps, namespace, labelSelector: "mine" },
      {
        signal: ended.signal,
        onEvent: (event) => told.push("object" in event ? event.object["kept"] : event.type),
        keep: ({ apiVersion, kind, metadata: { namespace, name, uid, resourceVersion }, data = {} }) => ({
          apiVersion,
          kind,
          metadata: Object.fromEntries(Object.entries({ namespace, name, uid, resourceVersion })),
          kept: data,
        }),
      },
    );
    await synced;
    await create("watched");
    await edit("watched");
    await expect.poll(() => told).toEqual([{}, "synced", {}, { x: "y" }]);
    for (const object of store.values()) expect(object.metadata).not.toHaveProperty("labels");
    expect([...store.keys()]).toEqual([`${namespace}/listed`, `${namespace}/watched`]);
  });

  it("has what exists, follows every change, and ends when it is told to", async () => {
    const { namespace, log, errors, ended, begin, create, edit, remove } = await bench();
    await create("a");
    const reflector = begin();
    await reflector.synced;
    expect(log).toEqual(["applied a", "synced"]);
    await create("b");
    await edit("a");
    await remove("a");
    await expect.poll(() => log.slice(2)).toEqual(["applied b", "applied a", "deleted a"]);
    expect(names(reflector)).toEqual(new Set(["b"]));
    const b = reflector.store.get(`${namespace}/b`);
    expect(b).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    expect(b && keyOf(b)).toBe(`${namespace}/b`);
    ended.abort();
    await reflector.done;
    expect(errors).toEqual([]);
  });

  it("after a gap that the server no longer remembers (410) tells of all that was missed", async () => {
    const cut = Promise.withResolvers<void>();
    let watches = 0;
    const { log, errors, begin, create, edit, remove } = await bench((api) => ({
      ...api,
      watch: async function* (request, signal) {
        watches += 1;
        if (watches > 1) return yield* api.watch(request, signal);
        await cut.promise;
        // In the server's words and place: one that has just begun remembers everything.
        yield E.left({
          type: "refused",
          code: 410,
          reason: "Expired",
          message: "too old resource version",
          causes: [],
        });
      },
    }));
    for (const name of ["gone", "kept", "moved", "again"]) await create(name);
    const reflector = begin();
    await reflector.synced;
    log.length = 0;
    await remove("gone");
    await remove("again");
    await create("again");
    await edit("moved");
    await create("new");
    cut.resolve();
    await expect.poll(() => log.at(-1)).toBe("synced");
    expect(errors).toEqual([expect.objectContaining({ type: "refused", code: 410 })]);
    expect(log.toSorted()).toEqual([
      "applied again",
      "applied moved",
      "applied new",
      "deleted again",
      "deleted gone",
      "synced",
    ]);
    expect(names(reflector)).toEqual(new Set(["again", "kept", "moved", "new"]));
    await remove("new");
    await expect.poll(() => log.at(-1)).toBe("deleted new");
  });

  it("keeps trying while it is not allowed to list", async () => {
    let refusals = 2;
    const { log, errors, begin, create } = await bench((api) => ({
      ...api,
      send: (request) => {
        refusals -= 1;
        return refusals < 0 ? api.send(request) : api.send({ ...request, as: { user: "nobody" } });
      },
    }));
    await create("a");
    await begin().synced;
    expect(errors).toEqual([403, 403].map((code) => expect.objectContaining({ code })));
    expect(log).toEqual(["applied a", "synced"]);
  });

  it("goes on where it was when the server ends a watch, without listing again", async () => {
    const requests: string[] = [];
    const { log, begin, create } = await bench((api) => ({
      send: (request) => {
        requests.push(request.verb);
        return api.send(request);
      },
      watch: async function* (request, signal) {
        requests.push(request.verb);
        for await (const event of api.watch(request, signal)) {
          yield event;
          if (E.isRight(event) && requests.length === 2) return; // as the server does after timeoutSeconds
        }
      },
    }));
    await begin().synced;
    await create("a");
    await expect.poll(() => requests).toEqual(["list", "watch", "watch"]);
    await create("b");
    await expect.poll(() => log).toEqual(["synced", "applied a", "applied b"]);
    expect(requests).toEqual(["list", "watch", "watch"]);
  });
});
