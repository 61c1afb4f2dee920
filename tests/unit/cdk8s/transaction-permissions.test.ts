import { Change, Transaction, TransactionPermissions, type TransactionPermissionsProps } from "@janus/cdk8s";
import { ApiObject, Chart, Testing } from "cdk8s";
import { ConfigMap } from "cdk8s-plus-30";
import { expect, it } from "vitest";

const scene = (more: Partial<TransactionPermissionsProps> = {}) => {
  const app = Testing.app();
  const shop = new Chart(app, "shop", { namespace: "shop" });
  const access = new Chart(app, "access", { namespace: "access" });
  const map = new ConfigMap(shop, "Config", { metadata: { name: "config" } });
  const other = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "other" };
  const blue = new ApiObject(shop, "Blue", { apiVersion: "v1", kind: "Namespace", metadata: { name: "blue" } });
  const changes = [Change.apply(blue), Change.apply(map), Change.patch(other, { spec: { replicas: 3 } })];
  const transaction = new Transaction(shop, "Release", { serviceAccount: "deploy-sa", changes });
  new TransactionPermissions(access, "Permissions", { transaction, ...more });
  return { app, shop, access };
};

it("are a ServiceAccount, and a role and its binding for each namespace and for the cluster", () => {
  const { access } = scene();
  const manifests = Testing.synth(access);
  expect(manifests.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
    ["ServiceAccount", "shop"],
    ["ClusterRole", undefined],
    ["ClusterRoleBinding", undefined],
    ["Role", "shop"],
    ["RoleBinding", "shop"],
    ["Role", "other"],
    ["RoleBinding", "other"],
  ]);
  for (const [role, binding] of [manifests.slice(1, 3), manifests.slice(3, 5), manifests.slice(5, 7)])
    expect(binding).toMatchObject({
      roleRef: { kind: role.kind, name: role.metadata.name },
      subjects: [{ kind: "ServiceAccount", name: "deploy-sa", namespace: "shop" }],
    });
  expect(manifests[5].rules).toEqual([
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "patch", "update"], resourceNames: ["web"] },
  ]);
});

it("are applied before the Transaction", () => {
  const { app } = scene();
  app.synthYaml();
  expect(app.charts.map(({ node }) => node.id)).toEqual(["access", "shop"]);
});

it("can be in the chart of the Transaction, even of a whole chart, and come first there", () => {
  const shop = new Chart(Testing.app(), "shop", { namespace: "shop" });
  new ConfigMap(shop, "Config", { metadata: { name: "config" } });
  const transaction = Transaction.of(shop, "Release", { serviceAccount: "deploy-sa" });
  new TransactionPermissions(shop, "Permissions", { transaction });
  expect(Testing.synth(shop).map(({ kind }: { kind: string }) => kind)).toEqual([
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Transaction",
  ]);
});

it("need no ServiceAccount where there is one", () => {
  const { access } = scene({ createServiceAccount: false });
  expect(Testing.synth(access).map(({ kind }: { kind: string }) => kind)).not.toContain("ServiceAccount");
});

it("need a namespace for the ServiceAccount", () => {
  const chart = new Chart(Testing.app(), "shop");
  const transaction = new Transaction(chart, "Release", { serviceAccount: "deploy-sa", changes: [] });
  expect(() => new TransactionPermissions(chart, "Permissions", { transaction })).toThrow(
    "Transaction shop/Release has no namespace",
  );
});
