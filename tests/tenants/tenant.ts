// Users who may edit in one namespace, and no other: neighbours.
import type { Api, Client, KubeObject, Resource } from "@janus/kube";
import { namespaces, serviceAccounts } from "@janus/types";
import type { Installed } from "../fixtures/installed.ts";
import { create, deployer, must } from "../load/world.ts";

const builtIn = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
  statusSubresource: false,
});

const roles = builtIn("rbac.authorization.k8s.io", "roles", "Role");
const roleBindings = builtIn("rbac.authorization.k8s.io", "rolebindings", "RoleBinding");

/** Who has the built-in role `edit` in one namespace, may edit some other kinds there, and has no other right; and a ServiceAccount that has the same. */
export interface Tenant {
  readonly namespace: string;
  readonly api: Client;
  readonly create: (resource: Resource, object: object) => Promise<KubeObject>;
  /** Deletes all objects of the kind that is worked on, and resolves when none is there any more. */
  readonly clear: () => Promise<void>;
}

/**
 * @param worked the kind of the objects that the controller works on
 * @param editable kinds that the built-in role does not include
 */
export const tenant = async (
  { api: admin, as }: Installed,
  namespace: string,
  worked: Resource,
  editable: readonly Resource[] = [],
): Promise<Tenant> => {
  const subjects = [
    { kind: "User", apiGroup: roles.group, name: namespace },
    { kind: "ServiceAccount", name: deployer, namespace },
  ];
  const bind = (name: string, kind: string): Promise<KubeObject> =>
    create(admin, roleBindings, namespace, {
      metadata: { name },
      roleRef: { apiGroup: roles.group, kind, name },
      subjects,
    });
  await create(admin, namespaces, "", { metadata: { name: namespace } });
  await create(admin, serviceAccounts, namespace, { metadata: { name: deployer } });
  await bind("edit", "ClusterRole");
  if (editable.length > 0) {
    const rules = editable.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: ["*"] }));
    await create(admin, roles, namespace, { metadata: { name: "more" }, rules });
    await bind("more", "Role");
  }
  const api = await as(namespace, 16);
  /** The first of them: with long annotations, a list of all would be too large an answer. */
  const some = async (api: Api): Promise<readonly KubeObject[]> => {
    const first = { verb: "list", resource: worked, namespace, metadataOnly: true, limit: 40 } as const;
    const list = must(await api.send(first));
    return (list["items"] ?? []) as readonly KubeObject[]; // null, where there is none
  };
  return {
    namespace,
    api,
    create: (resource, object) => create(api, resource, namespace, object),
    clear: async () => {
      for (let left = await some(admin); left.length > 0; left = await some(admin)) {
        await Promise.all(
          left.map(({ metadata: { name = "" } }) => admin.send({ verb: "delete", resource: worked, namespace, name })),
        );
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
  };
};
