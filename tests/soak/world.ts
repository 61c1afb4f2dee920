import type { Resource } from "@janus/kube";
import { configMaps, namespaces, serviceAccounts } from "@janus/types";
import type { Insistent } from "./insist.ts";

const builtIn = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
  statusSubresource: false,
});

export const services = builtIn("", "services", "Service");
export const deployments = builtIn("apps", "deployments", "Deployment");
const quotas = builtIn("", "resourcequotas", "ResourceQuota");
const roleBindings = builtIn("rbac.authorization.k8s.io", "rolebindings", "RoleBinding");

/** Where the Transactions are, and most of their targets. */
export const HOME = "soak";
/** Where there may be one Service only. */
export const TIGHT = "soak-tight";
export const SHARED: readonly string[] = Array.from({ length: 8 }, (_, n) => `shared-${n}`);
export const DEPLOYER = "deployer";

export const build = async ({ create }: Insistent): Promise<void> => {
  await create(namespaces, "", { metadata: { name: HOME } });
  await create(namespaces, "", { metadata: { name: TIGHT } });
  await create(serviceAccounts, HOME, { metadata: { name: DEPLOYER } });
  for (const namespace of [HOME, TIGHT])
    await create(roleBindings, namespace, {
      metadata: { name: DEPLOYER },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
      subjects: [{ kind: "ServiceAccount", name: DEPLOYER, namespace: HOME }],
    });
  await create(quotas, TIGHT, { metadata: { name: "one-service" }, spec: { hard: { services: "1" } } });
  for (const name of SHARED) await create(configMaps, HOME, { metadata: { name } });
};
