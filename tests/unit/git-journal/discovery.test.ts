// Tests that resources are not forgotten while their group cannot be asked.
import type { JsonObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import {
  certainlyGone,
  discovered,
  groupsOf,
  type GroupAnswer,
  type Installed,
  type ServedResource,
} from "../../../packages/git-journal/src/core/discovery.ts";

const served = (group: string, plural: string, namespaced = true, versions = ["v1"]): ServedResource => ({
  group,
  plural,
  kind: plural,
  namespaced,
  versions,
});

const before = [served("", "configmaps"), served("apps", "deployments"), served("example.com", "widgets")];

it("of a group that fails all stays known", () => {
  expect(
    discovered(
      before,
      new Map<string, GroupAnswer>([
        ["", [served("", "configmaps")]],
        ["apps", "failed"],
        ["example.com", "failed"],
      ]),
    ),
  ).toEqual(before);
});

const installed = (definitions: readonly string[] = [], services: readonly string[] = ["", "apps"]): Installed => ({
  definitions: new Set(definitions),
  groups: new Set(services),
});

describe("a resource is certainly gone", () => {
  const groups = new Map<string, GroupAnswer>([
    ["", [served("", "configmaps")]],
    ["apps", []],
    ["metrics.example.com", "failed"],
  ]);
  it.each<readonly [string, string, Installed | undefined, boolean]>([
    ["when its group answers without it", "deployments.apps", installed(), true],
    ["when the server has no such group, and nothing says that it will", "widgets.example.com", installed(), true],
    ["but not while it is served", "configmaps.", installed(), false],
    ["but not when its group failed", "pods.metrics.example.com", installed(), false],
    ["but not while its definition is there", "widgets.example.com", installed(["widgets.example.com"]), false],
    ["but not while an APIService of its group is there", "widgets.example.com", installed([], ["example.com"]), false],
    ["but not when it is not known what is installed", "widgets.example.com", undefined, false],
  ])("%s", (_, key, all, isGone) => {
    expect(certainlyGone(groups, all).has(key)).toBe(isGone);
  });

  it("but not before the server has said what it serves", () => {
    expect(certainlyGone(undefined, installed()).has("widgets.example.com")).toBe(false);
  });
});

const resource = (resource: string, kind: string, more: JsonObject = {}): JsonObject => ({
  resource,
  responseKind: { group: "", version: "", kind },
  scope: "Namespaced",
  verbs: ["create", "get", "list", "watch"],
  ...more,
});
const group = (name: string | undefined, ...versions: readonly JsonObject[]): JsonObject => ({
  metadata: name === undefined ? {} : { name },
  versions,
});

it("the aggregated form has each resource once, with its versions in the order of the server", () => {
  const core = {
    items: [
      group(undefined, {
        version: "v1",
        freshness: "Current",
        resources: [resource("configmaps", "ConfigMap"), resource("bindings", "Binding", { verbs: ["create"] })],
      }),
    ],
  };
  const others = {
    items: [
      group(
        "autoscaling",
        { version: "v2", resources: [resource("hpas", "HPA")] },
        { version: "v1", resources: [resource("hpas", "HPA"), resource("olds", "Old", { scope: "Cluster" })] },
      ),
      group("metrics.k8s.io", { version: "v1", freshness: "Stale", resources: [] }),
      group(
        "example.com",
        { version: "v2", resources: [resource("things", "Thing")] },
        { version: "v1", resources: [resource("things", "Thing", { scope: "Cluster" })] },
      ),
    ],
  };
  expect([...groupsOf([core, others])]).toEqual([
    ["", [{ group: "", plural: "configmaps", kind: "ConfigMap", namespaced: true, versions: ["v1"] }]],
    [
      "autoscaling",
      [
        { group: "autoscaling", plural: "hpas", kind: "HPA", namespaced: true, versions: ["v2", "v1"] },
        { group: "autoscaling", plural: "olds", kind: "Old", namespaced: false, versions: ["v1"] },
      ],
    ],
    ["metrics.k8s.io", "failed"],
    ["example.com", [{ group: "example.com", plural: "things", kind: "Thing", namespaced: true, versions: ["v2"] }]],
  ]);
});

it("nonsense is no group", () => {
  expect(groupsOf([{}, { items: "x" }, { items: [null, 3] }]).size).toBe(0);
});
