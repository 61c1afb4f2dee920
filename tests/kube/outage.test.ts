import { setImmediate } from "node:timers/promises";
import { connect, type ConnectOptions, discovery, loadConfig, type Resource } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { configMap, right } from "./client.ts";

// Its own control plane: the others would not like what happens to it.
let controlPlane: ControlPlane;
beforeAll(async () => {
  controlPlane = await startControlPlane();
});
afterAll(() => controlPlane.stop());

const client = (options: ConnectOptions = {}) => {
  const made = connect(right(loadConfig({ KUBECONFIG: controlPlane.kubeconfig })), options);
  onTestFinished(() => made.close());
  return made;
};
const apiServices: Resource = {
  group: "apiregistration.k8s.io",
  version: "v1",
  plural: "apiservices",
  kind: "APIService",
  namespaced: false,
  statusSubresource: true,
};
const to = { resource: configMaps, namespace: "default" };
const unanswered = (cause: string) => E.left(expect.objectContaining({ type: "unanswered", cause }));

describe("an API server that stops answering", () => {
  it("costs a request its deadline when it was sent, and the next one finds a connection of its own", async () => {
    const { send } = client();
    right(await send({ verb: "create", ...to, body: configMap("paused") }));
    await setImmediate(); // its connection is free again
    await controlPlane.pause("kube-apiserver");
    onTestFinished(() => controlPlane.resume("kube-apiserver"));
    const write = send({ verb: "mergePatch", ...to, name: "paused", body: { data: { late: "yes" } }, deadline: 300 });
    expect(await write).toEqual(unanswered("deadline"));
    expect(await send({ verb: "create", ...to, body: configMap("other"), deadline: 300 })).toEqual(
      unanswered("never-sent"),
    );
    controlPlane.resume("kube-apiserver");
    await expect.poll(() => send({ verb: "get", ...to, name: "paused" })).toMatchObject(E.right({ kind: "ConfigMap" }));
    expect(await send({ verb: "get", ...to, name: "other" })).toMatchObject(E.left({ code: 404 }));
  });
});

describe("an API server that is not there", () => {
  it("was never sent anything, and is used again when it is back", async () => {
    const { send } = client();
    right(await send({ verb: "raw", path: "/version" }));
    const back = controlPlane.restart("kube-apiserver");
    await expect.poll(() => send({ verb: "raw", path: "/version" }), { interval: 5 }).toEqual(unanswered("never-sent"));
    await back;
    await expect.poll(() => send({ verb: "raw", path: "/version" })).toMatchObject(E.right({ major: "1" }));
  });

  it("is waited for by a reflector, which then knows what happened meanwhile", async () => {
    const { send, watch } = client();
    const log: string[] = [];
    const errors: unknown[] = [];
    const ended = new AbortController();
    onTestFinished(() => ended.abort());
    for (const name of ["r-gone", "r-kept"])
      right(await send({ verb: "create", ...to, body: configMap(name, {}, { labels: { r: "" } }) }));
    const { synced, store } = startReflector(
      { send, watch },
      { ...to, labelSelector: "r" },
      {
        signal: ended.signal,
        onError: (error) => errors.push(error),
        onEvent: (event) =>
          log.push(event.type === "synced" ? event.type : `${event.type} ${event.object.metadata.name}`),
      },
    );
    await synced;
    log.length = 0;
    await controlPlane.restart("kube-apiserver");
    right(await send({ verb: "delete", ...to, name: "r-gone" }));
    right(await send({ verb: "create", ...to, body: configMap("r-new", {}, { labels: { r: "" } }) }));
    await expect.poll(() => [...store.keys()].toSorted()).toEqual(["default/r-kept", "default/r-new"]);
    expect(log).toContain("deleted r-gone");
    expect(errors).not.toEqual([]);
  });
});

// While it is there, no namespace of the cluster comes to its end.
describe("a group whose server does not answer", () => {
  it("is said not to answer, and all others are served", async () => {
    const api = client();
    const { resource } = discovery(api);
    const group = "broken.example";
    right(
      await api.send({
        verb: "create",
        resource: apiServices,
        body: {
          apiVersion: "apiregistration.k8s.io/v1",
          kind: "APIService",
          metadata: { name: `v1.${group}` },
          spec: {
            group,
            version: "v1",
            groupPriorityMinimum: 1000,
            versionPriority: 15,
            insecureSkipTLSVerify: true,
            service: { namespace: "default", name: "nobody" },
          },
        },
      }),
    );
    await expect
      .poll(() => resource(`${group}/v1`, "Broken"))
      .toEqual(E.left(expect.objectContaining({ type: "refused", code: 503 })));
    expect(E.isRight(await resource("apps/v1", "Deployment"))).toBe(true);
    expect(E.isRight(await resource("v1", "Pod"))).toBe(true);
  });
});
