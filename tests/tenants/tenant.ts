import type { JsonObject } from "@janus/api";
import { transactions } from "@janus/controller";
import type { Api, Client, KubeObject, Resource } from "@janus/kube";
import type { Installed } from "../fixtures/installed.ts";
import { create, deployer, must } from "../load/world.ts";

const builtIn = (group: string, plural: string, kind: string, namespaced = true): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced,
  statusSubresource: false,
});

const namespaces = builtIn("", "namespaces", "Namespace", false);
const serviceAccounts = builtIn("", "serviceaccounts", "ServiceAccount");
const roleBindings = builtIn("rbac.authorization.k8s.io", "rolebindings", "RoleBinding");

/** Who has the built-in role `edit` in one namespace, and no other right; and a ServiceAccount that has the same. */
export interface Tenant {
  readonly namespace: string;
  readonly api: Client;
  readonly create: (resource: Resource, object: object) => Promise<KubeObject>;
  readonly submit: (
    name: string,
    changes: readonly JsonObject[],
    spec?: JsonObject,
    metadata?: JsonObject,
  ) => Promise<KubeObject>;
  /** Deletes all its Transactions, and resolves when none is there any more. */
  readonly clear: () => Promise<void>;
}

export const tenant = async ({ api: admin, as }: Installed, namespace: string): Promise<Tenant> => {
  await create(admin, namespaces, "", { metadata: { name: namespace } });
  await create(admin, serviceAccounts, namespace, { metadata: { name: deployer } });
  await create(admin, roleBindings, namespace, {
    metadata: { name: "edit" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: namespace },
      { kind: "ServiceAccount", name: deployer, namespace },
    ],
  });
  const api = await as(namespace, 16);
  /** The first of them: with long annotations, a list of all would be too large an answer. */
  const some = async (api: Api): Promise<readonly KubeObject[]> => {
    const first = { verb: "list", resource: transactions, namespace, metadataOnly: true, limit: 40 } as const;
    const list = must(await api.send(first));
    return (list["items"] ?? []) as readonly KubeObject[]; // null, where there is none
  };
  return {
    namespace,
    api,
    create: (resource, object) => create(api, resource, namespace, object),
    submit: (name, changes, spec = {}, metadata = {}) =>
      create(api, transactions, namespace, {
        metadata: { ...metadata, name },
        spec: { serviceAccountName: deployer, changes, ...spec },
      }),
    clear: async () => {
      for (let left = await some(admin); left.length > 0; left = await some(admin)) {
        await Promise.all(
          left.map(({ metadata: { name = "" } }) =>
            admin.send({ verb: "delete", resource: transactions, namespace, name }),
          ),
        );
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
  };
};
