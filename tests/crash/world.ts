// The objects of a namespace, to compare before and after.
import type { Api, KubeObject, Resource } from "@janus/kube";
import { configMaps, leases, pods, secrets, serviceAccounts } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

const services: Resource = { ...pods, plural: "services", kind: "Service" };

/** Every kind that a scenario touches or that Janus writes, Events apart. */
export const KINDS: readonly Resource[] = [configMaps, secrets, services, serviceAccounts, leases];

export const must = <A>(answer: E.Either<{ readonly message: string }, A>): A => {
  if (E.isLeft(answer)) throw new Error(answer.left.message);
  return answer.right;
};

/** All objects of a namespace, by `Kind/name`; without what the namespace itself brings. */
export type World = ReadonlyMap<string, KubeObject>;

export const look = async (api: Api, namespace: string, kinds: readonly Resource[]): Promise<World> => {
  const lists = await Promise.all(
    kinds.map(async (resource) => {
      const list = must(await api.send({ verb: "list", resource, namespace }));
      return (list["items"] as readonly KubeObject[]).map(
        (item) => [`${resource.kind}/${item.metadata.name}`, { ...item, kind: resource.kind }] as const,
      );
    }),
  );
  return new Map(
    lists.flat().filter(([key]) => key !== "ConfigMap/kube-root-ca.crt" && key !== "ServiceAccount/default"),
  );
};

/** What must be the same before and after: everything but versions, the status that controllers write, and identity. */
export const essence = (object: KubeObject): unknown => {
  // Lists tell apiVersion and kind once for all.
  const { status: _, apiVersion: __, kind: ___, metadata, ...rest } = object;
  const { uid: ____, resourceVersion: _____, generation: ______, ...kept } = metadata;
  const entries = (metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource !== "status")
    .map((entry) => JSON.stringify(entry))
    .toSorted();
  return { ...rest, metadata: { ...kept, creationTimestamp: undefined, managedFields: entries } };
};
