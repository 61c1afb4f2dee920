// Tests where objects are found to be served, whatever stands before the API server.
import type { ApiError, KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Answer } from "../../../packages/blueprints/src/core/memory.ts";
import { resourceNamed, resourceOfKind } from "../../../packages/blueprints/src/core/object-lookup.ts";
import type { Inquiry } from "../../../packages/blueprints/src/core/requests.ts";

const PATH = "/apis/apps/v1";
const unserved: ApiError = { type: "refused", code: 404, reason: "", message: "", causes: [], notFound: "path" };
const resources: KubeObject = {
  apiVersion: "v1",
  kind: "APIResourceList",
  metadata: {},
  resources: [
    { name: "deployments/scale", kind: "Scale", namespaced: true },
    { name: "deployments/status", kind: "Deployment", namespaced: true },
    { name: "deployments", kind: "Deployment", namespaced: true },
  ],
};
const groups = (...names: readonly string[]): KubeObject => ({
  apiVersion: "v1",
  kind: "APIGroupList",
  metadata: {},
  groups: names.map((name) => ({ name, versions: [{ version: "v1" }] })),
});

const given = (answers: Readonly<Record<string, Answer>>): Inquiry => ({
  missing: [],
  ask: ({ fact }) => answers[fact],
});

const deployments = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };
const refused = E.left("the API server does not serve Deployment in /apis/apps/v1");

it.each([
  ["served", { [`discovery${PATH}`]: E.right(resources) }, E.right(expect.objectContaining(deployments))],
  ["not asked for yet", {}, undefined],
  ["to be made sure of", { [`discovery${PATH}`]: E.left(unserved) }, undefined],
  ["not served", { [`discovery${PATH}`]: E.left(unserved), "discovery/apis": E.right(groups("batch")) }, refused],
  [
    "listed, and asked for again",
    { [`discovery${PATH}`]: E.left(unserved), "discovery/apis": E.right(groups("apps")) },
    undefined,
  ],
  [
    "served after all",
    {
      [`discovery${PATH}`]: E.left(unserved),
      "discovery/apis": E.right(groups("apps")),
      [`discovery${PATH}/again`]: E.right(resources),
    },
    E.right(expect.objectContaining(deployments)),
  ],
])("a kind is %s", (_, answers: Readonly<Record<string, Answer>>, found) =>
  expect(resourceOfKind(given(answers), "apps/v1", "Deployment")).toEqual(found),
);

it("the core group is served", () => {
  const lied = { "discovery/api/v1": E.left(unserved), "discovery/apis": E.right(groups()) };
  expect(resourceOfKind(given(lied), "v1", "Pod")).toBeUndefined();
  expect(resourceOfKind(given({ ...lied, "discovery/api/v2": E.left(unserved) }), "v2", "Pod")).toEqual(
    E.left("the API server does not serve Pod in /api/v2"),
  );
});

it("a reference names group, version and resource", () =>
  expect(
    resourceNamed(given({ [`discovery${PATH}`]: E.right(resources) }), {
      group: "apps",
      apiVersion: "v1",
      resource: "deployments",
    }),
  ).toEqual(E.right(expect.objectContaining(deployments))));
