import type { Api, KubeObject, Resource } from "@janus/kube";
import { namespaces, serviceAccounts } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

const builtIn = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
  statusSubresource: false,
});

export const crds: Resource = {
  ...builtIn("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
  namespaced: false,
};
export const roleBindings = builtIn("rbac.authorization.k8s.io", "rolebindings", "RoleBinding");

export const must = <A>(answer: E.Either<{ readonly message: string } | string, A>): A => {
  if (E.isLeft(answer)) throw new Error(typeof answer.left === "string" ? answer.left : answer.left.message);
  return answer.right;
};

/** Of the administrator: more at the same time would only wait for each other. */
export const CONNECTIONS = 32;

/** All at once, as far as the connections of the client go. */
export const allAtOnce = <A, B>(inputs: readonly A[], run: (input: A) => Promise<B>): Promise<readonly B[]> =>
  Promise.all(inputs.map(run));

const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`);

export const create = async (api: Api, resource: Resource, namespace: string, object: object): Promise<KubeObject> =>
  must(
    await api.send({
      verb: "create",
      resource,
      ...(resource.namespaced ? { namespace } : {}),
      body: { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object },
      fieldManager: "somebody",
    }),
  );

/** Undefined: there is none. */
export const read = async (
  api: Api,
  resource: Resource,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> => {
  const answer = await api.send({ verb: "get", resource, namespace, name });
  return E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 404 ? undefined : must(answer);
};

export const deployer = "deployer";

/** A namespace with a ServiceAccount that may do everything in it. */
export const openNamespace = async (api: Api, name: string): Promise<void> => {
  await create(api, namespaces, "", { metadata: { name } });
  await create(api, serviceAccounts, name, { metadata: { name: deployer } });
  await create(api, roleBindings, name, {
    metadata: { name: deployer },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: deployer, namespace: name }],
  });
};
