import type { Change } from "@janus/api";
import { describe, expect, it } from "vitest";
import { dependsOn } from "../../../packages/controller/src/core/undo/rollback-dependencies.ts";
import { NOW } from "./arbitrary-situation.ts";
import { underway } from "./underway.ts";

const of = (type: "Create" | "Patch" | "Delete", apiVersion: string, kind: string): Change => {
  const target = { apiVersion, kind, name: kind.toLowerCase() };
  return type === "Delete" ? { type, target } : { type, target, content: {} };
};

const waits = (first: Change, second: Change): boolean =>
  dependsOn(
    underway("RollingBack", [first, second], { direction: "back", cursor: 1, reached: 2, since: NOW }).txn,
    0,
    1,
  );

const operator = of("Create", "apps/v1", "Deployment");
const custom = of("Create", "cloud.example.com/v1", "Bucket");

describe("while the rollback of a later change waits, the rollback of an earlier one", () => {
  it.each([
    ["a workload, for a custom resource that was created after it", operator, custom, true],
    ["its configuration, too", of("Create", "v1", "ConfigMap"), custom, true],
    [
      "a kind of Kubernetes with a CustomResourceDefinition",
      operator,
      of("Create", "snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
      true,
    ],
    [
      "permissions, for whatever comes later",
      of("Create", "rbac.authorization.k8s.io/v1", "Role"),
      of("Create", "v1", "ConfigMap"),
      true,
    ],
    [
      "not a workload, for a kind of Kubernetes itself: its claim waits for its Pods",
      operator,
      of("Create", "v1", "PersistentVolumeClaim"),
      false,
    ],
    ["not for an ingress either", operator, of("Create", "networking.k8s.io/v1", "Ingress"), false],
    ["not what was only edited", of("Patch", "apps/v1", "Deployment"), custom, false],
    ["not for a custom resource that was only edited", operator, of("Patch", "cloud.example.com/v1", "Bucket"), false],
  ] as const)("waits: %s", (_, first, second, is) => {
    expect(waits(first, second)).toBe(is);
  });
});
