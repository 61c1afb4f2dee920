import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import path from "node:path";
import { loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { TIMING_FLAGS } from "../fixtures/leader-timing.ts";
import { configMap } from "../fixtures/manifests.ts";
import { proxy } from "../fixtures/proxy.ts";
import { workspace } from "../fixtures/workspace.ts";

type Use = "leader election" | "renewal of locks" | "everything else";

/** Undefined: of events, and of a Lease that is created, it cannot be told. */
const useOf = (method: string, { pathname, searchParams }: URL): Use | undefined => {
  const isLease = pathname.includes("/coordination.k8s.io/");
  const isCheckOfFence = pathname.endsWith("/selfsubjectreviews") || (isLease && searchParams.has("dryRun"));
  if (pathname.endsWith("/janus-test-leader") || isCheckOfFence) return "leader election";
  if (method === "POST" && (isLease || pathname.endsWith("/events"))) return undefined;
  return isLease && method === "PATCH" ? "renewal of locks" : "everything else";
};

/** Passes on what the controller asks; its kubeconfig; and what each of its connections was used for. */
const observed = async (leaseNamespace: string) => {
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const uses = new Map<Socket, Set<Use>>();
  const { way, stop } = await proxy(config.right, new Map(), ({ method = "", url = "", socket }) => {
    const use = useOf(method, new URL(url, "http://localhost"));
    if (use !== undefined) uses.set(socket, (uses.get(socket) ?? new Set()).add(use));
  });
  onTestFinished(stop);
  const kubeconfig = path.join(controlPlane.directory, "kubeconfigs", `observed-${leaseNamespace}`);
  const cluster = { name: "c", cluster: { server: way().server } };
  const context = { name: "c", context: { cluster: "c", user: "c" } };
  const user = { name: "c", user: {} };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [cluster],
      contexts: [context],
      users: [user],
      "current-context": "c",
    }),
  );
  return { kubeconfig, uses: () => [...uses.values()].map((some) => [...some].toSorted()) };
};

it("never lets leader election and the renewal of locks wait for connections of other requests, nor for each other's", async () => {
  const { namespace, submit, run, exists, patch, over } = await workspace();
  const { kubeconfig, uses } = await observed(namespace);
  // As administrator: the controller's own ServiceAccount may elect a leader with the Lease of its installation alone.
  controllerProcess([
    `--kubeconfig=${kubeconfig}`,
    `--watch-namespace=${namespace}`,
    `--leader-elect-resource-namespace=${namespace}`,
    "--leader-elect-resource-name=janus-test-leader",
    "--http-port=0",
    ...TIMING_FLAGS,
  ]);
  await run([creating(configMap("first", { a: "1" }))], { name: "first" });
  const gated = { ...creating(configMap("gated", { done: "no" })), waitFor: ["jsonpath={.data.done}=yes"] };
  await submit([gated], { name: "gated", lockTimeout: "1s" });
  const all = (): readonly string[] => [...new Set(uses().flat())].toSorted();
  const every: readonly Use[] = ["everything else", "leader election", "renewal of locks"];
  await expect.poll(all).toEqual(every);
  await expect.poll(() => exists(configMap("gated"))).toBe(true);
  await patch(configMap("gated", { done: "yes" }));
  await over("gated");
  expect(uses().filter(({ length }) => length > 1)).toEqual([]);
});
