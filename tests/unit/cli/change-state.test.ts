// Tests how a change names its target: with a namespace only where the object is in one.
import { expect, it } from "vitest";
import { nameOfTarget } from "../../../packages/cli/src/progress/change-state.ts";
import { transaction } from "../core/transaction.ts";

it.each([
  ["v1", "Namespace", undefined, "Namespace a"],
  ["rbac.authorization.k8s.io/v1", "ClusterRole", undefined, "ClusterRole a"],
  ["v1", "ConfigMap", undefined, "ConfigMap shop/a"],
  ["apps/v1", "Deployment", "other", "Deployment other/a"],
  ["cert-manager.io/v1", "ClusterIssuer", undefined, "ClusterIssuer.cert-manager.io a"],
  ["gateway.networking.k8s.io/v1", "GatewayClass", undefined, "GatewayClass.gateway.networking.k8s.io a"],
  ["cert-manager.io/v1", "Certificate", "shop", "Certificate.cert-manager.io shop/a"],
])("of %s %s in %s: %s", (apiVersion, kind, namespace, expected) => {
  const target = { apiVersion, kind, name: "a", ...(namespace === undefined ? {} : { namespace }) };
  expect(nameOfTarget(transaction([{ type: "Delete", target }]), 0)).toBe(expected);
});
