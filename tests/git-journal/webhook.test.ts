// Who did it, on the real control plane: the API server calls the webhook over TLS, and the watch shows the change.
import type { Api, KubeObject, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubectlWith } from "../fixtures/cluster.ts";
import { deployment } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { must } from "../load/world.ts";
import { type WebhookWorld, webhookWorld } from "./webhook-world.ts";

const builtIn = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
  statusSubresource: false,
});
const configMaps = builtIn("", "configmaps", "ConfigMap");
const deployments = builtIn("apps", "deployments", "Deployment");
const services = builtIn("", "services", "Service");
const autoscalers = builtIn("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler");
const quotas = builtIn("", "resourcequotas", "ResourceQuota");

const configMap = (name: string, value: string, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data: { value },
});

let world: WebhookWorld;
let alice: Api;
let bob: Api;

const create = (api: Api, body: object, resource = configMaps, dryRun = false) =>
  api.send({ verb: "create", resource, namespace: world.namespace, body, dryRun });
const patch = (api: Api, name: string, body: object, resource = configMaps) =>
  api.send({ verb: "mergePatch", resource, namespace: world.namespace, name, body });
const remove = (api: Api, name: string) =>
  api.send({ verb: "delete", resource: configMaps, namespace: world.namespace, name });
const kubectlAs = async (user: string, args: readonly string[], stdin?: string) => {
  const kubeconfig = await world.kubeconfigOf(user);
  const outcome = await kubectlWith(
    { kubeconfig, ...(stdin === undefined ? {} : { stdin }) },
    "-n",
    world.namespace,
    ...args,
  );
  expect(outcome).toMatchObject({ code: 0 });
};
const changes = (name: string) => (): readonly string[] => world.of(name);

beforeAll(async () => {
  world = await webhookWorld();
  [alice, bob] = await Promise.all([world.as("alice"), world.as("bob")]);
  world.serve();
  await world.isCalled();
});
afterAll(() => world.end());

describe("the author", () => {
  it("of a create, an update and a delete is who did it", async () => {
    must(await create(alice, configMap("written", "1")));
    must(await patch(bob, "written", { data: { value: "2" } }));
    must(await remove(alice, "written"));
    await expect.poll(changes("written")).toEqual(["CREATE alice", "UPDATE bob", "DELETE alice"]);
  });

  it("of two users on one object is each of them, whatever they write in turn", async () => {
    must(await create(alice, configMap("shared", "a")));
    for (const value of ["b", "a", "b", "a"])
      must(await patch(value === "b" ? bob : alice, "shared", { data: { value } }));
    await expect
      .poll(changes("shared"))
      .toEqual(["CREATE alice", "UPDATE bob", "UPDATE alice", "UPDATE bob", "UPDATE alice"]);
  });

  it("of an object with generateName is known by the name that it was given", async () => {
    const made = must(await create(alice, { ...configMap("", "1"), metadata: { generateName: "named-" } }));
    await expect.poll(changes(made.metadata.name ?? "")).toEqual(["CREATE alice"]);
  });

  it("of the deletion of a collection is known for each of its objects", async () => {
    for (const name of ["many-1", "many-2"]) must(await create(bob, configMap(name, "1", { labels: { of: "many" } })));
    const at = `/api/v1/namespaces/${world.namespace}/configmaps?labelSelector=of%3Dmany`;
    await kubectlAs("alice", ["delete", "--raw", at]);
    for (const name of ["many-1", "many-2"]) await expect.poll(changes(name)).toEqual(["CREATE bob", "DELETE alice"]);
  });

  it("of a deletion is who asked for it, and not who took the last finalizer away", async () => {
    must(await create(bob, configMap("held", "1", { finalizers: ["example.com/held"] })));
    must(await remove(alice, "held"));
    await expect.poll(changes("held")).toEqual(["CREATE bob", "DELETE alice"]);
    must(await patch(bob, "held", { metadata: { finalizers: null } }));
    must(await create(bob, configMap("held", "2")));
    await expect.poll(changes("held")).toEqual(["CREATE bob", "DELETE alice", "CREATE bob"]);
  });

  it("of a scale, and of what is written after the status was, is who did it", async () => {
    const place = { resource: deployments, namespace: world.namespace, name: "scaled" };
    must(await create(alice, deployment("scaled", "nginx"), deployments));
    // The controller of Deployments writes its status meanwhile.
    const settles = (subresource: string, body: object) =>
      expect
        .poll(async () => E.isRight(await bob.send({ verb: "mergePatch", ...place, subresource, body })))
        .toBe(true);
    await settles("scale", { spec: { replicas: 3 } });
    await settles("status", { status: { conditions: [{ type: "Example", status: "True" }] } });
    must(await alice.send({ verb: "mergePatch", ...place, body: { metadata: { labels: { tier: "web" } } } }));
    await expect.poll(changes("scaled")).toEqual(["CREATE alice", "UPDATE bob", "UPDATE alice"]);
  });

  it("is known, too, where another version is written than the one that is watched", async () => {
    const autoscaler = {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "scaler" },
      spec: {
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 80,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" },
      },
    };
    must(await create(alice, autoscaler, autoscalers));
    must(await patch(bob, "scaler", { spec: { maxReplicas: 4 } }, autoscalers));
    await expect.poll(changes("scaler")).toEqual(["CREATE alice", "UPDATE bob"]);
  });

  it("is not who only tried it: a dry run", async () => {
    must(await create(alice, configMap("tried", "1")));
    must(
      await bob.send({
        verb: "mergePatch",
        resource: configMaps,
        namespace: world.namespace,
        name: "tried",
        body: { data: { value: "2" } },
        dryRun: true,
      }),
    );
    must(await patch(alice, "tried", { data: { value: "2" } }));
    await expect.poll(changes("tried")).toEqual(["CREATE alice", "UPDATE alice"]);
  });

  it("is never who was refused by a quota, but whoever did it afterwards, or nobody", async () => {
    // As seldom taken as the port of the webhook.
    const port = { port: 80, nodePort: 30_000 + (world.port % 2700) };
    const exposed = { spec: { type: "NodePort", ports: [port] } };
    must(
      await create(
        alice,
        { apiVersion: "v1", kind: "Service", metadata: { name: "limited" }, spec: { ports: [{ port: 80 }] } },
        services,
      ),
    );
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "few" },
      spec: { hard: { "services.nodeports": "0", "count/configmaps": "0" } },
    };
    must(await create(world.admin, quota, quotas));
    // Of the quota, too, the API server is told a moment later.
    let probes = 0;
    const isExceeded = async (): Promise<boolean> => {
      probes += 1;
      const metadata = { name: `quota-${probes}` };
      const spec = { type: "NodePort", ports: [{ port: 80 }] };
      const made = await Promise.all([
        create(world.admin, configMap(metadata.name, "1")),
        create(world.admin, { apiVersion: "v1", kind: "Service", metadata, spec }, services),
      ]);
      return made.every(E.isLeft);
    };
    await expect.poll(isExceeded).toBe(true);
    expect(await patch(bob, "limited", exposed, services)).toMatchObject({ left: { code: 403 } });
    expect(await create(bob, configMap("refused", "1"))).toMatchObject({ left: { code: 403 } });
    must(await world.admin.send({ verb: "delete", resource: quotas, namespace: world.namespace, name: "few" }));
    // And that it is gone.
    await expect.poll(async () => E.isRight(await patch(alice, "limited", exposed, services))).toBe(true);
    await expect.poll(async () => E.isRight(await create(alice, configMap("refused", "1")))).toBe(true);
    await expect.poll(() => world.of("refused").at(-1)).toBe("CREATE alice");
    await expect.poll(() => world.of("limited").at(-1)).toBe("UPDATE ");
  });
});

const configurationOf = async (): Promise<KubeObject> => world.liveConfiguration();

describe("the configuration", () => {
  it("has the API server call for what is selected, and for nothing else", async () => {
    const { webhooks } = (await configurationOf()) as unknown as {
      readonly webhooks: readonly { readonly rules: unknown }[];
    };
    expect(webhooks[0]?.rules).toMatchObject([
      { apiGroups: [""], resources: ["configmaps", "services", "*/scale"] },
      { apiGroups: ["apps"], resources: ["deployments", "*/scale"] },
      { apiGroups: ["autoscaling"], apiVersions: ["v2"], resources: ["horizontalpodautoscalers", "*/scale"] },
    ]);
  });

  it("is not written again while nothing has changed, nor is the Secret", async () => {
    const { requests, hook } = recording();
    const webhook = world.serve({
      port: 0,
      api: { ...world.admin, send: (request) => hook(request, world.admin.send) },
    });
    await expect.poll(() => requests.map(({ verb }) => verb)).toEqual(["get", "get", "get", "get"]);
    await webhook.stop();
  });
});
