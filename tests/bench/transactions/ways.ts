// Ways to change many ConfigMaps: a Transaction, bare writes, kubectl, helm. Each has targets of its own, all alike.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { configMaps, leases } from "@janus/types";
import { sideBySide } from "../../fixtures/side-by-side.ts";
import { create, must } from "../../load/world.ts";
import { timed } from "../figures.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import { configMap, namesOf, patch } from "./objects.ts";
import type { Side } from "./scenario.ts";

/** A way to change so many objects, all in one go. */
export type Way = (count: number) => Side;

const at = (name: string) => ({ resource: configMaps, namespace: NAMESPACE, name });

const applied = (name: string, value: string) =>
  ({
    verb: "apply",
    ...at(name),
    body: configMap(name, value),
    fieldManager: "bench",
    force: true,
  }) as const;

/** Applies one object after the other, as cheaply as the API allows. */
export const bareWrites = async ({ api }: Cluster, names: readonly string[], value: string): Promise<void> => {
  for (const name of names) must(await api.send(applied(name, value)));
};

/** @param ready resolves when a controller runs */
export const transactionWay =
  (cluster: Cluster, ready: () => Promise<unknown>): Way =>
  (count) =>
  async (round) => {
    await ready();
    await cluster.haveTargets("janus", count);
    const name = `changes-${count}-${round}`;
    const changes = namesOf("janus", count).map((target) => patch(target, name));
    const ms = await timed(() => cluster.reach("Committed", name, changes));
    await cluster.over([name]);
    return { ms };
  };

export const bareWay =
  (cluster: Cluster): Way =>
  (count) =>
  async (round) => {
    await cluster.haveTargets("bare", count);
    return { ms: await timed(() => bareWrites(cluster, namesOf("bare", count), `${count}-${round}`)) };
  };

/** Requests of one Transaction that are sent at the same time, at most: as many as the controller sends. */
const REQUESTS_AT_ONCE = 16;

/**
 * The requests without which no change of a Transaction is checked, locked and undoable, and nothing else: a lock, a read and a dry
 * run of each, then one change after the other, and the locks are given back. Returns the ms until the last change is made: no
 * Transaction can take less.
 */
export const requestsAlone = async (cluster: Cluster, names: readonly string[], value: string): Promise<number> => {
  const { api } = cluster;
  const ofEach = (send: (name: string) => Promise<unknown>) => sideBySide(REQUESTS_AT_ONCE, names, send);
  const ms = await timed(async () => {
    await ofEach((name) => create(api, leases, NAMESPACE, { metadata: { name }, spec: { holderIdentity: value } }));
    await ofEach(async (name) => must(await api.send({ verb: "get", ...at(name) })));
    await ofEach(async (name) => must(await api.send({ ...applied(name, value), dryRun: true })));
    await bareWrites(cluster, names, value);
  });
  await ofEach(async (name) => must(await api.send({ verb: "delete", ...at(name), resource: leases })));
  return ms;
};

export const requestsWay =
  (cluster: Cluster): Way =>
  (count) =>
  async (round) => {
    await cluster.haveTargets("requests", count);
    return { ms: await requestsAlone(cluster, namesOf("requests", count), `${count}-${round}`) };
  };

/** Runs a program as administrator. Rejects with what it complains of. */
const run = ({ plane }: Cluster, file: string, args: readonly string[]): Promise<unknown> => {
  const home = path.join(plane.directory, "client");
  const caches = Object.fromEntries(
    ["KUBECACHEDIR", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map((name) => [
      name,
      path.join(home, name),
    ]),
  );
  const env = { PATH: process.env["PATH"], KUBECONFIG: plane.kubeconfig, ...caches };
  return promisify(execFile)(file, [...args, "--namespace", NAMESPACE], { env, maxBuffer: 1 << 28 });
};

/** A program is started for each run. Its first one of so many objects creates them, and does not count. */
const programWay = (change: (count: number, value: string) => Promise<() => Promise<unknown>>): Way => {
  const created = new Set<number>();
  return (count) => async (round) => {
    if (!created.has(count)) await (await change(count, "none"))();
    created.add(count);
    return { ms: await timed(await change(count, `${count}-${round}`)) };
  };
};

export const kubectlWay = (cluster: Cluster): Way =>
  programWay(async (count, value) => {
    const file = path.join(cluster.plane.directory, `kubectl-${count}.json`);
    const items = namesOf("kubectl", count).map((name) => configMap(name, value));
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    return () => run(cluster, cluster.plane.binaries.kubectl, ["apply", "--server-side", "-f", file]);
  });

export const helmWay = (cluster: Cluster, helm: string): Way =>
  programWay(async (count, value) => {
    const release = `helm-${count}`;
    const chart = path.join(cluster.plane.directory, release);
    await mkdir(path.join(chart, "templates"), { recursive: true });
    await writeFile(
      path.join(chart, "Chart.yaml"),
      JSON.stringify({ apiVersion: "v2", name: release, version: "1.0.0" }),
    );
    const objects = namesOf(release, count).map((name) => JSON.stringify(configMap(name, "{{ .Values.value }}")));
    await writeFile(path.join(chart, "templates", "objects.yaml"), objects.join("\n---\n"));
    const flags = ["--install", "--rollback-on-failure", "--set-string", `value=${value}`];
    return () => run(cluster, helm, ["upgrade", release, chart, ...flags]);
  });
