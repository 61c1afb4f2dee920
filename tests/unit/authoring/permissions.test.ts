import { type ChangeManifest, permissionsOf, type SpecManifest } from "@janus/authoring";
import { describe, expect, it } from "vitest";

const change = (
  type: ChangeManifest["type"],
  apiVersion: string,
  kind: string,
  name: string,
  more: Partial<ChangeManifest> = {},
): ChangeManifest => ({
  target: { apiVersion, kind, name },
  type,
  ...(type === "Delete" ? {} : { content: {} }),
  ...more,
});
const permissions = (changes: readonly ChangeManifest[], more: Partial<SpecManifest> = {}) =>
  permissionsOf({ serviceAccountName: "deploy-sa", changes, ...more }, "shop");

describe("the permissions of a Transaction", () => {
  it("are also to read the contents that are in ConfigMaps and Secrets of its namespace", () => {
    const { content: _, ...secret } = change("Create", "v1", "Namespace", "new", {
      contentFrom: { secretKeyRef: { name: "contents", key: "a" } },
    });
    const { content: __, ...map } = change("Patch", "v1", "Namespace", "old", {
      contentFrom: { configMapKeyRef: { name: "contents", key: "a" } },
    });
    expect(permissions([secret, map]).find(({ namespace }) => namespace === "shop")).toEqual({
      namespace: "shop",
      rules: [
        { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: ["contents"] },
        { apiGroups: [""], resources: ["configmaps"], verbs: ["get"], resourceNames: ["contents"] },
      ],
    });
  });

  it("are the verbs of each change and of its rollback, on the targets by name; a create has no name", () => {
    expect(
      permissions([
        change("Create", "v1", "Secret", "new"),
        change("Patch", "v1", "ConfigMap", "a"),
        change("Patch", "v1", "ConfigMap", "b"),
        change("Update", "v1", "ConfigMap", "c"),
        change("Delete", "networking.k8s.io/v1", "NetworkPolicy", "old"),
        change("Apply", "apps/v1", "Deployment", "web"),
      ]),
    ).toEqual([
      {
        namespace: "shop",
        rules: [
          { apiGroups: [""], resources: ["secrets"], verbs: ["get", "delete"], resourceNames: ["new"] },
          { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
          { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "patch", "update"], resourceNames: ["a", "b"] },
          { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "update"], resourceNames: ["c"] },
          {
            apiGroups: ["networking.k8s.io"],
            resources: ["networkpolicies"],
            verbs: ["get", "delete", "update"],
            resourceNames: ["old"],
          },
          { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["create"] },
          {
            apiGroups: ["apps"],
            resources: ["deployments"],
            verbs: ["get", "delete", "patch", "update"],
            resourceNames: ["web"],
          },
          { apiGroups: ["apps"], resources: ["deployments"], verbs: ["create"] },
        ],
      },
    ]);
  });

  it("are in the namespace of each target, and in none for cluster-scoped kinds", () => {
    const elsewhere = { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "other" };
    const found = permissions([
      change("Patch", "v1", "ConfigMap", "a"),
      { ...change("Patch", "v1", "ConfigMap", "a"), target: elsewhere },
      change("Patch", "v1", "Namespace", "shop"),
    ]);
    expect(found.map(({ namespace }) => namespace)).toEqual(["shop", "other", undefined]);
  });

  it("follow a CustomResourceDefinition of the same Transaction", () => {
    const spec = { group: "example.com", scope: "Cluster", names: { kind: "Ox", plural: "oxen" } };
    const [, cluster] = permissions([
      change("Patch", "v1", "ConfigMap", "a"),
      change("Create", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "oxen.example.com", {
        content: { spec },
      }),
      change("Create", "example.com/v1", "Ox", "one"),
    ]);
    expect(cluster?.rules).toContainEqual({ apiGroups: ["example.com"], resources: ["oxen"], verbs: ["create"] });
  });

  it("let it write permissions that it does not have itself", () => {
    const rbac = "rbac.authorization.k8s.io";
    const roleRef = { apiGroup: rbac, kind: "Role", name: "reader" };
    const [{ rules } = { rules: [] }] = permissions([
      change("Patch", `${rbac}/v1`, "Role", "reader"),
      change("Patch", `${rbac}/v1`, "RoleBinding", "readers", { content: { roleRef } }),
    ]);
    expect(rules).toContainEqual({
      apiGroups: [rbac],
      resources: ["roles"],
      verbs: ["get", "patch", "update", "escalate", "bind"],
      resourceNames: ["reader"],
    });
  });

  it.each(["Create", "Apply", "Delete"] as const)(
    "let it create roles by a %s, whose name is not known then",
    (type) => {
      const [{ rules } = { rules: [] }] = permissions([change(type, "rbac.authorization.k8s.io/v1", "Role", "reader")]);
      expect(rules.filter(({ verbs }) => verbs.includes("escalate"))).toEqual([
        { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create", "escalate"] },
      ]);
    },
  );

  it("watch what gates wait for, and list the Pods and Events that explain a workload or a claim", () => {
    const web = change("Patch", "apps/v1", "Deployment", "web", { waitFor: ["ready"] });
    const [{ rules } = { rules: [] }] = permissions([web]);
    expect(rules).toEqual([
      {
        apiGroups: ["apps"],
        resources: ["deployments"],
        verbs: ["get", "patch", "update"],
        resourceNames: ["web"],
      },
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list", "watch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
      { apiGroups: [""], resources: ["events"], verbs: ["list"] },
    ]);
    const claim = change("Create", "v1", "PersistentVolumeClaim", "data", { waitFor: ["ready"] });
    expect(permissions([claim])[0]?.rules.at(-1)).toEqual({ apiGroups: [""], resources: ["events"], verbs: ["list"] });
    expect(permissions([{ ...web, waitFor: [] }], { waitFor: ["ready"] })[0]?.rules).toHaveLength(1);
  });
});
