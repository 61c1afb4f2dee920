import type { Client } from "@janus/kube";
import { discovery } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Cluster } from "../../../packages/cli/src/cluster/cluster.ts";
import { compose } from "../../../packages/cli/src/manifests/compose.ts";
import { withKinds } from "../../../packages/cli/src/manifests/skipped.ts";

const group = (
  name: string,
  resource: string,
  responseKind: string,
  singularResource: string,
  shortNames: string[],
) => ({
  metadata: { name },
  versions: [
    {
      version: "v1",
      resources: [
        {
          resource,
          responseKind: { kind: responseKind },
          singularResource,
          shortNames,
          scope: "Namespaced",
          verbs: ["list"],
        },
      ],
    },
  ],
});

const KINDS: Readonly<Record<string, readonly object[]>> = {
  "/api": [group("", "services", "Service", "service", ["svc"])],
  "/apis": [group("apps", "deployments", "Deployment", "deployment", ["deploy"])],
};

const api = {
  send: async (request) =>
    E.right({
      apiVersion: "apidiscovery.k8s.io/v2",
      kind: "APIGroupDiscoveryList",
      metadata: { name: "" },
      items: request.verb === "raw" ? KINDS[request.path] : [],
    }),
} as Pick<Client, "send"> as Client;
const cluster: Cluster = { api, discovery: discovery(api), namespace: "shop", server: "https://127.0.0.1" };

const manifests = [
  { where: "app.yaml:1", manifest: { apiVersion: "v1", kind: "Service", metadata: { name: "lb" } } },
  { where: "app.yaml:5", manifest: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } } },
  { where: "app.yaml:9", manifest: { apiVersion: "shop.example.com/v1", kind: "Till", metadata: { name: "one" } } },
];

const skipping = async (...names: readonly string[]) => {
  const skipWaitFor = await withKinds(cluster, manifests, names);
  const { spec } = compose(manifests, "shop", { waitFor: ["ready"], skipWaitFor });
  return spec.changes.flatMap(({ target, waitFor }) =>
    waitFor === undefined ? [] : [`${target.kind}/${target.name}`],
  );
};

it.each([
  ["svc/lb", "Service/lb"],
  ["services/lb", "Service/lb"],
  ["Service/lb", "Service/lb"],
  ["deploy/web", "Deployment/web"],
  ["deployments.apps/web", "Deployment/web"],
  ["deployment.v1.apps/web", "Deployment/web"],
  // The API server does not serve it yet.
  ["till/one", "Till/one"],
])("waits for all objects but the one that kubectl would call %s", async (name, skipped) => {
  expect(await skipping(name)).toEqual([skipped]);
});

it.each(["svc/web", "nothing/lb", "svc", "svc/lb/x"])("refuses %s, of which there is no manifest", async (name) => {
  await expect(skipping(name)).rejects.toThrow("no manifest is called so; write KIND/NAME, such as Job/migrate");
});
