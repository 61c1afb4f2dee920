import { randomBytes } from "node:crypto";
import type { Refused, Request, Resource } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { gadgets } from "../fixtures/gadgets.ts";
import { configMap, sharedClient } from "./client.ts";

const { send } = sharedClient();

const notFound = async (request: Request): Promise<Refused["notFound"] | "no 404"> => {
  const answer = await send(request);
  return E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 404
    ? answer.left.notFound
    : "no 404";
};

const kind = (group: string, plural: string, kind: string, version = "v1"): Resource => ({
  ...configMaps,
  group,
  plural,
  kind,
  version,
});

const at = (resource: Resource, namespace = "default") => ({ resource, namespace, name: "nobody" }) as const;
const deployments = kind("apps", "deployments", "Deployment");
const roles = { ...kind("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"), namespaced: false };

it.each<[string, Request, Refused["notFound"]]>([
  ["a get", { verb: "get", ...at(configMaps) }, "object"],
  ["a get in a namespace that there is not", { verb: "get", ...at(configMaps, "nowhere") }, "object"],
  ["a get of a kind of a group", { verb: "get", ...at(deployments) }, "object"],
  ["a get of a cluster-scoped object", { verb: "get", resource: roles, name: "no:body" }, "object"],
  ["a get of a subresource", { verb: "get", ...at(deployments), subresource: "scale" }, "object"],
  ["a delete", { verb: "delete", ...at(configMaps), preconditions: { uid: "u" } }, "object"],
  ["a merge patch", { verb: "mergePatch", ...at(configMaps), body: {} }, "object"],
  ["a merge patch of a status", { verb: "mergePatch", ...at(deployments), subresource: "status", body: {} }, "object"],
  [
    "a create in a namespace that there is not",
    { verb: "create", resource: configMaps, namespace: "nowhere", body: configMap("a") },
    "other",
  ],
  ["a subresource that there is not", { verb: "get", ...at(configMaps), subresource: "status" }, "path"],
  ["a kind that there is not", { verb: "get", ...at(kind("apps", "nothings", "Nothing")) }, "path"],
  ["a version that there is not", { verb: "get", ...at(kind("apps", "deployments", "Deployment", "v9")) }, "path"],
  ["a group that there is not", { verb: "get", ...at(kind("nothing.io", "nothings", "Nothing")) }, "path"],
])("what the API server does not find is, for %s, told apart", async (_, request, what) => {
  expect(await notFound(request)).toBe(what);
});

it("an object of a version that is served no more, or of a kind that is gone, is not said to be absent", async () => {
  const group = `g${randomBytes(4).toString("hex")}`;
  const crd = gadgets(group) as unknown as { readonly spec: { readonly versions: readonly [object] } };
  const [v1] = crd.spec.versions;
  const withV1 = (served: boolean) =>
    kubectlWith(
      {
        stdin: JSON.stringify({
          ...crd,
          spec: {
            ...crd.spec,
            versions: [
              { ...v1, served },
              { ...v1, name: "v2", storage: false },
            ],
          },
        }),
      },
      "apply",
      "-f",
      "-",
    );
  onTestFinished(
    async () => void (await kubectl("delete", "crd", `gadgets.${group}.example.com`, "--ignore-not-found")),
  );
  const get = { verb: "get", ...at(kind(`${group}.example.com`, "gadgets", "Gadget")) } as const;
  await withV1(true);
  await expect.poll(() => notFound(get)).toBe("object");
  await withV1(false);
  await expect.poll(() => notFound(get)).toBe("path");
  expect(await notFound({ ...get, resource: { ...get.resource, version: "v2" } })).toBe("object");
  await withV1(true);
  await expect.poll(() => notFound(get)).toBe("object");
  await kubectl("delete", "crd", `gadgets.${group}.example.com`);
  await expect.poll(() => notFound(get)).toBe("path");
});
