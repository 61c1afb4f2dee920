import { CONTROLLER_NAMES, controller, FENCE_NAMES, HTTP } from "@janus/controller";
import { leadership, serve, watchdog } from "@janus/runtime/parts";
import { connect, type Hook, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { creating, deleting } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { gate } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { workspace } from "../fixtures/workspace.ts";

/** A controller in this process, with a watchdog that does not wait for long. */
const watched = async (port: number, ...hooks: readonly Hook[]) => {
  const place = await workspace();
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const server = `https://127.0.0.1:${port}`;
  const client = connect({ ...config.right, server }, { hooks, deadline: 1500, writeTimeout: 1000 });
  const dog = watchdog(5000);
  const election = leadership(client, {
    names: CONTROLLER_NAMES,
    fence: FENCE_NAMES,
    identity: "one",
    place: { namespace: place.namespace, name: "leader" },
    timing: { leaseDuration: 60_000, renewDeadline: 50_000, retryPeriod: 200, writeTimeout: 1000 },
    deadline: 1500,
    log: () => {},
    watchdog: dog,
  });
  const { stop } = controller(client, {
    settings: { controllerNamespace: "janus-system", writeTimeout: 1000, margin: 100, recoveryDelay: 60_000 },
    watchNamespaces: [place.namespace],
    concurrency: 4,
    identity: "test",
    log: () => {},
    watchdog: dog,
  });
  const http = await serve(
    0,
    {
      stuck: dog.stuck,
      unready: () => undefined,
      metrics: () => Promise.resolve(""),
      status: () => ({}),
      leaderElsewhere: () => undefined,
      retryAfter: 1,
      instead: "",
    },
    HTTP,
  );
  onTestFinished(async () => {
    http.close();
    await Promise.race([stop(), new Promise((resolve) => setTimeout(resolve, 1000))]);
    await client.close();
    await election.leave();
  });
  const { port: at } = http.address() as { readonly port: number };
  const health = async () => {
    const answer = await fetch(`http://127.0.0.1:${at}/healthz`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  return { ...place, health };
};
const apiServer = Number(new URL(controlPlane.url).port);

const held = (...finalizers: readonly string[]) => ({ ...configMap("held"), metadata: { name: "held", finalizers } });

describe("/healthz", () => {
  it.each([
    ["worker", "change"],
    ["reflector", "reflect"],
    ["lock renewal", "renew-lock"],
  ])("fails when the %s hangs, names it, and is well again when it goes on", async (loop, purpose) => {
    const { hook, reached, open } = gate((request) => request.purpose === purpose);
    const { create, submit, patch, over, health } = await watched(apiServer, hook);
    await create(held("example.com/hold"));
    // While it waits for the finalizer, its locks are renewed.
    await submit([creating(configMap("made")), deleting(configMap("held"))], { lockTimeout: "1s" });
    await reached;
    const stuck = new RegExp(`^500 stuck: .*${loop}: no progress for \\d+ s`);
    await expect.poll(health).toMatch(stuck);
    open();
    await expect.poll(health).toBe("200 ok");
    await patch(held());
    await over();
  });

  it("does not fail because the API server does not answer, or because there is nothing to do", async () => {
    const way = await tunnel({ port: apiServer });
    const { submit, over, health } = await watched(way.port);
    await submit([creating(configMap("a"))]);
    await over();
    way.close();
    await submit([creating(configMap("b"))], { name: "later" });
    const until = performance.now() + 12_000;
    while (performance.now() < until) {
      expect(await health()).toBe("200 ok");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    way.open();
    await over("later");
    expect(await health()).toBe("200 ok");
  });
});
