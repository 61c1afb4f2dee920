import { type KubeObject, objectController, type Request, type RunnableController } from "@janus/runtime";
import { type Log, startWork, watchdog } from "@janus/runtime/parts";
import { pods } from "@janus/types";
import { expect, it, onTestFinished } from "vitest";
import { configMaps, labelKeeper } from "../../../examples/own-controller/label-keeper.ts";
import { refused, type SmallApiServer, smallApiServer } from "./small-api-server.ts";

const object = (name: string, kind = "ConfigMap", labels?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { namespace: "shop", name, uid: name, ...(labels && { labels }) },
});

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** A controller at work, until the test has ended, and what it has logged. */
const working = <Memory, Effect, Happened>(
  { api }: SmallApiServer,
  controller: RunnableController<Memory, Effect, Happened>,
  more: Partial<Parameters<typeof startWork>[0]> = {},
  watchNamespaces?: readonly string[],
) => {
  const lines: Line[] = [];
  const log: Log = (level, message, fields) => lines.push({ level, message, ...fields });
  const work = startWork(
    { name: "label-keeper", resource: configMaps, ...more, controller },
    { api, log, watchdog: watchdog() },
    { watchNamespaces, concurrency: 1 },
  );
  onTestFinished(work.stop);
  return { lines, work, of: (level: string) => lines.filter((line) => line.level === level) };
};

const ownersOf = ({ metadata: { labels } }: KubeObject): readonly string[] => [`shop/${labels?.["of"]}`];

const mistaken = (): readonly string[] => {
  throw new Error("a mistake");
};

const label = (name: string) => ({ verb: "patch", target: `ConfigMap shop/${name}` });

it("logs each request at debug: its purpose, verb, target and code, and how long it took", async () => {
  const server = smallApiServer();
  server.put(object("app"));
  const { of } = working(server, labelKeeper);
  const ms = expect.any(Number) as number;
  const reconcile = expect.any(String) as string;
  const all = { level: "debug", configMap: "shop/app", code: "2xx", ms, reconcile };
  await expect
    .poll(() => of("debug"))
    .toEqual([
      { ...all, message: "read", verb: "get", target: "ConfigMap shop/app" },
      { ...all, message: "label", ...label("app") },
    ]);
});

it("says which request failed: its purpose, verb and target", async () => {
  const server = smallApiServer(({ verb }) => (verb === "mergePatch" ? refused(403, "Forbidden") : undefined));
  server.put(object("app"));
  const { of } = working(server, labelKeeper);
  const message = "request failed, retrying the ConfigMap after a pause";
  const error = expect.stringContaining("403 Forbidden") as string;
  await expect.poll(() => of("warn")[0]).toMatchObject({ message, purpose: "label", ...label("app"), error });
});

it("reports a defect in one line, with its stack, and counts it", async () => {
  const server = smallApiServer();
  server.put(object("app"));
  const { of, work } = working(
    server,
    objectController(() => {
      throw new TypeError("a mistake");
    }),
  );
  await expect.poll(() => of("error")).toHaveLength(1);
  expect(of("error")[0]).toMatchObject({
    message: "internal error in label-keeper, retrying the ConfigMap after a pause",
    configMap: "shop/app",
    error: "TypeError: a mistake",
    at: expect.arrayContaining([expect.stringContaining("start-work.test.ts")]) as readonly string[],
  });
  expect(await work.registry.metrics()).toMatch(/^label_keeper_reconciles_total\{result="defect"\} 1$/mu);
});

it("counts its reconciles by how they ended", async () => {
  const server = smallApiServer();
  server.put(object("app", "ConfigMap", { "example.com/team": "shop" }));
  const { work } = working(server, labelKeeper);
  await expect.poll(() => work.registry.metrics()).toMatch(/^label_keeper_reconciles_total\{result="success"\} 1$/mu);
  expect(await work.registry.metrics()).toMatch(/^label_keeper_reconcile_seconds_count 1$/mu);
});

it("records the events of the controller, one with a count for those that are repeated", async () => {
  const server = smallApiServer();
  server.put(object("app"));
  const { work } = working(server, {
    ...labelKeeper,
    eventsOf: (_, happened) =>
      happened.type === "answered" ? [{ type: "Normal", reason: "Labelled", message: "it had no label" }] : [],
  });
  const events = (): readonly Request[] =>
    server.sent.filter((request) => request.verb !== "raw" && request.resource.kind === "Event");
  await expect.poll(events).toHaveLength(1);
  await work.stop();
  expect(events()).toEqual([
    expect.objectContaining({
      verb: "create",
      namespace: "shop",
      body: expect.objectContaining({
        involvedObject: expect.objectContaining({ kind: "ConfigMap", namespace: "shop", name: "app", uid: "app" }),
        reason: "Labelled",
        message: "it had no label",
        reportingComponent: "label-keeper",
        source: { component: "label-keeper" },
      }),
    }),
  ]);
});

it("records the events of a cluster-scoped object in the namespace default", async () => {
  const server = smallApiServer();
  const { namespace: _, ...metadata } = object("app").metadata;
  server.put({ ...object("app"), metadata });
  working(server, {
    ...labelKeeper,
    eventsOf: () => [{ type: "Warning", reason: "Odd", message: "odd" }],
  });
  await expect
    .poll(() => server.sent.find(({ verb }) => verb === "create"))
    .toMatchObject({ namespace: "default", body: { metadata: { namespace: "default" } } });
  const created = server.sent.find((request) => request.verb === "create");
  expect(created).not.toHaveProperty("body.involvedObject.namespace");
});

it("reconciles an object when one of another kind has changed that belongs, or belonged to it", async () => {
  const server = smallApiServer();
  for (const name of ["a", "b", "c"]) server.put(object(name));
  const decided: string[] = [];
  const controller = objectController(({ metadata: { name = "" } }) => {
    decided.push(name);
    return { type: "wait", until: Infinity, because: "nothing is to be done" };
  });
  const { work } = working(server, controller, {
    watches: [{ resource: pods, labelSelector: "of", keysOf: ownersOf }],
  });
  await work.synced;
  await expect.poll(() => decided.toSorted()).toEqual(["a", "b", "c"]);
  decided.length = 0;
  server.put(object("pod", "Pod", { of: "a" }));
  await expect.poll(() => decided).toEqual(["a"]);
  server.put(object("pod", "Pod", { of: "b" }));
  await expect.poll(() => decided.toSorted()).toEqual(["a", "a", "b"]);
  server.put(object("stranger", "Pod", { of: "nobody" }));
  server.remove(object("pod", "Pod", { of: "b" }));
  await expect.poll(() => decided.toSorted()).toEqual(["a", "a", "b", "b"]);
  expect(server.sent.filter(({ verb }) => verb === "get")).toHaveLength(7);
});

it("goes on when it cannot be told what an object of another kind belongs to", async () => {
  const server = smallApiServer();
  server.put(object("pod", "Pod"));
  server.put(object("app"));
  const { of } = working(server, labelKeeper, { watches: [{ resource: pods, keysOf: mistaken }] });
  await expect.poll(() => server.read("ConfigMap", "app")?.metadata.labels).toBeDefined();
  expect(of("error")).toMatchObject([
    { message: "internal error: nothing is reconciled for a Pod", target: "shop/pod", error: "Error: a mistake" },
  ]);
});

it("takes an object that has lost the labels of the selector for deleted", async () => {
  const server = smallApiServer();
  const app = object("app", "ConfigMap", { on: "true", "example.com/team": "shop" });
  server.put(app);
  const left: string[] = [];
  const { work } = working(
    server,
    {
      ...labelKeeper,
      afterDeletion: ({ metadata: { name = "" } }) => {
        left.push(name);
        return undefined;
      },
    },
    { labelSelector: "on" },
  );
  await work.synced;
  await expect.poll(() => server.sent.some(({ verb }) => verb === "get")).toBe(true);
  expect(server.sent[0]).toMatchObject({ verb: "list", labelSelector: "on" });
  // So the API server tells of it to those that select.
  server.deselect(app);
  await expect.poll(() => left).toEqual(["app"]);
});

it("does not take the end of the process for a failure to watch", async () => {
  const server = smallApiServer(({ verb }) =>
    verb === "list" ? { type: "unanswered", cause: "aborted", message: "the client is closed" } : undefined,
  );
  const { lines } = working(server, labelKeeper);
  await expect.poll(() => server.sent.length).toBeGreaterThan(0);
  await new Promise(setImmediate);
  expect(lines).toEqual([]);
});

it("watches each of its namespaces alone: one that cannot be listed keeps no other waiting, and no others are asked for", async () => {
  const server = smallApiServer((request) =>
    request.verb === "list" && request.namespace === "bank" ? refused(403, "Forbidden") : undefined,
  );
  const inNamespace = (namespace: string): KubeObject => ({
    ...object(`of-${namespace}`),
    metadata: { namespace, name: `of-${namespace}`, uid: namespace },
  });
  for (const namespace of ["shop", "web", "other"]) server.put(inNamespace(namespace));
  server.put({ ...object("pod", "Pod", { of: "of-web" }) });
  const { work, of } = working(
    server,
    labelKeeper,
    { watches: [{ resource: pods, keysOf: ({ metadata: { labels } }) => [`web/${labels?.["of"]}`] }] },
    ["shop", "bank", "web"],
  );
  const isLabelled = (namespace: string): boolean =>
    server.read("ConfigMap", `of-${namespace}`)?.metadata.labels !== undefined;
  await expect.poll(() => ["shop", "web"].map(isLabelled)).toEqual([true, true]);
  expect(isLabelled("other")).toBe(false);
  expect(work.isSynced()).toBe(false);
  expect(of("warn")[0]).toMatchObject({ message: "ConfigMaps cannot be watched; trying again" });
  const places = server.sent.flatMap((request) =>
    request.verb === "list" ? [`${request.resource.plural} ${request.namespace}`] : [],
  );
  expect([...new Set(places)].toSorted()).toEqual(
    ["configmaps", "pods"].flatMap((plural) => ["bank", "shop", "web"].map((namespace) => `${plural} ${namespace}`)),
  );
});

it("is ready when each of its namespaces was listed", async () => {
  const server = smallApiServer();
  const { work } = working(server, labelKeeper, {}, ["shop", "web"]);
  await work.synced;
  expect(work.isSynced()).toBe(true);
});

it("names the resource that cannot be watched", async () => {
  const server = smallApiServer(({ verb }) => (verb === "list" ? refused(404, "NotFound") : undefined));
  const { of } = working(server, labelKeeper);
  await expect
    .poll(() => of("warn")[0])
    .toMatchObject({
      message: "ConfigMaps cannot be watched; trying again",
      resource: "v1/configmaps",
    });
});
