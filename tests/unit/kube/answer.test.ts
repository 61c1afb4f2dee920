import { answerTo, type KubeObject, type Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";

const resource = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
  statusSubresource: true,
};
const to = { resource, namespace: "ns", name: "web" } as const;
const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", uid: "u1" } };
const object = (metadata: object = {}, rest: object = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "ns", name: "web", uid: "u1", ...metadata },
  ...rest,
});
const gone = (details: object, rest: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Status",
  metadata: {},
  status: "Success",
  details,
  ...rest,
});

const requests = {
  get: { ...to, verb: "get" },
  create: { ...to, verb: "create", body },
  "create without a name": { resource, namespace: "ns", verb: "create", body: { metadata: { generateName: "web-" } } },
  "create with an empty name": { resource, namespace: "ns", verb: "create", body: { metadata: { name: "" } } },
  update: { ...to, verb: "update", body },
  apply: { ...to, verb: "apply", body, fieldManager: "janus", force: true },
  mergePatch: { ...to, verb: "mergePatch", subresource: "status", body: { metadata: { uid: "u1" } } },
  delete: { ...to, verb: "delete", preconditions: { uid: "u1" } },
  scale: { ...to, verb: "get", subresource: "scale" },
  list: { resource, namespace: "ns", verb: "list" },
  "list of metadata": { resource, namespace: "ns", verb: "list", metadataOnly: true },
} satisfies Record<string, Request>;
type Name = keyof typeof requests;

const list = { apiVersion: "apps/v1", kind: "DeploymentList", metadata: {}, items: [] };
const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadataList", metadata: {}, items: [] };

describe("an answer of 2xx", () => {
  it.each([
    ...(["get", "create", "update", "apply", "mergePatch", "delete"] as const).map((name) => [name, object()] as const),
    ["create", object({ uid: "another" })],
    ["create without a name", object({ name: "web-x7" })],
    ["create with an empty name", object({ name: undefined, namespace: undefined })],
    ["delete", gone({ name: "web", uid: "u1" })],
    ["delete", gone({})],
    ["scale", object({}, { apiVersion: "autoscaling/v1", kind: "Scale" })],
    ["list", list],
    ["list of metadata", list],
    ["list of metadata", partial],
  ] satisfies (readonly [Name, KubeObject])[])("to a %s is what was asked for", (name, answer) => {
    expect(answerTo(requests[name], answer)).toEqual(E.right(answer));
  });

  it.each([
    ...(["get", "create", "update", "apply", "mergePatch", "delete"] as const).flatMap((name) => [
      [name, "another name", object({ name: "stranger" })] as const,
      [name, "another namespace", object({ namespace: "elsewhere" })] as const,
      [name, "no namespace", object({ namespace: undefined })] as const,
      [name, "another kind", object({}, { kind: "StatefulSet" })] as const,
      [name, "another group", object({}, { apiVersion: "v1" })] as const,
      [name, "a list", list] as const,
    ]),
    ...(["get", "create", "update", "apply", "mergePatch"] as const).map(
      (name) => [name, "a Status", gone({ name: "web", uid: "u1" })] as const,
    ),
    ...(["update", "apply", "mergePatch", "delete"] as const).map(
      (name) => [name, "another uid than was asked for", object({ uid: "another" })] as const,
    ),
    ["delete", "a Status about another", gone({ name: "stranger" })],
    ["delete", "a Status about another uid", gone({ name: "web", uid: "another" })],
    ["delete", "a Status of failure", gone({ name: "web" }, { status: "Failure" })],
    ["list", "the metadata of all", partial],
    ["list", "an object", object()],
    ["list", "a list of another kind", { ...list, kind: "StatefulSetList" }],
    ["list of metadata", "a list of another group", { ...list, apiVersion: "v1" }],
  ] satisfies (readonly [Name, string, KubeObject])[])("to a %s is not believed when it is %s", (name, _, answer) => {
    expect(answerTo(requests[name], answer)).toMatchObject(E.left({ type: "unanswered", cause: "malformed" }));
  });
});
