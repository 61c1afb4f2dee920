// Adds a Delete for each labelled object that is no longer among the manifests.
import { isIrreplaceable } from "@janus/api";
import { type ChangeManifest, kindOrder, type Manifest, targetOf } from "@janus/authoring";
import { messageOf } from "@janus/types";
import { listAll, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import type { Located } from "./read-manifests.ts";

/** Kinds that are looked at beside those of the manifests: those of `kubectl apply --prune`, without the irreversible ones. */
const KINDS: readonly (readonly [apiVersion: string, kind: string])[] = [
  ["v1", "ConfigMap"],
  ["v1", "Secret"],
  ["v1", "Service"],
  ["batch/v1", "Job"],
  ["batch/v1", "CronJob"],
  ["networking.k8s.io/v1", "Ingress"],
  ["apps/v1", "DaemonSet"],
  ["apps/v1", "Deployment"],
  ["apps/v1", "StatefulSet"],
];

const nameOf = ({ kind, metadata: { namespace, name } }: Manifest): string => [kind, namespace ?? "", name].join("/");

/** Whether a selector of equalities selects it. Errors: for any other selector, which is not decided here. */
const selects = (selector: string, labels: Readonly<Record<string, string>>): boolean =>
  selector.split(",").every((term) => {
    const [, key = "", value] = /^\s*([^=!\s]+)\s*==?\s*([^=!\s]*)\s*$/u.exec(term) ?? [];
    if (value === undefined)
      throw new Failure(`--selector ${selector}: --prune takes labels only, such as app=shop,tier=web`);
    return labels[key] === value;
  });

const kindsOf = async (
  { discovery }: Cluster,
  manifests: readonly Manifest[],
): Promise<readonly (readonly [string, Resource])[]> => {
  const all = new Map(
    [...KINDS, ...manifests.map(({ apiVersion, kind }) => [apiVersion, kind] as const)].map(([apiVersion, kind]) => [
      `${apiVersion}/${kind}`,
      [apiVersion, kind] as const,
    ]),
  );
  const found = await Promise.all(
    [...all.values()].map(
      async ([apiVersion, kind]) => [apiVersion, await discovery.resource(apiVersion, kind)] as const,
    ),
  );
  return found.flatMap(([apiVersion, resource]) =>
    E.isRight(resource) ? [[apiVersion, resource.right] as const] : [],
  );
};

/**
 * Deletes of the objects that have the labels and are not among the manifests: in the namespaces of the manifests
 * (that of the context only if one of them names none), of their kinds and the common ones, and not what belongs to
 * another object. The last kinds come first.
 *
 * Errors: a manifest without the labels, which the next run would delete; a kind that may not be listed.
 */
export const pruned = async (
  cluster: Cluster,
  located: readonly Located[],
  selector: string | undefined,
): Promise<readonly ChangeManifest[]> => {
  if (selector === undefined || selector === "")
    throw new Failure("--prune needs --selector: the labels of everything that belongs to these manifests");
  const unlabelled = located.find(({ manifest }) => !selects(selector, manifest.metadata.labels ?? {}));
  if (unlabelled !== undefined)
    throw new Failure(
      `${unlabelled.where}: ${unlabelled.manifest.kind} ${unlabelled.manifest.metadata.name} does not have the labels ${selector}: ` +
        "the next --prune would not find it; add them",
    );
  const manifests = located.map(({ manifest }) => manifest);
  const kinds = await kindsOf(cluster, manifests);
  const isNamespaced = ({ apiVersion, kind }: Manifest): boolean =>
    kinds.find(([version, { kind: name }]) => version === apiVersion && name === kind)?.[1].namespaced === true;
  const placed = manifests.map(({ metadata, ...manifest }) => ({
    ...manifest,
    metadata: { ...(isNamespaced({ metadata, ...manifest }) ? { namespace: cluster.namespace } : {}), ...metadata },
  }));
  const kept = new Set(placed.map(nameOf));
  const namespaces = new Set(placed.flatMap(({ metadata }) => metadata.namespace ?? []));
  // The deletion of some kinds cannot be undone, so it is never implied.
  const listed = kinds.filter(
    ([apiVersion, { kind, namespaced }]) => namespaced && !isIrreplaceable({ apiVersion, kind }),
  );
  const gone: ChangeManifest[] = [];
  for (const namespace of namespaces)
    for (const [apiVersion, resource] of listed) {
      const found = await listAll(cluster.api, { resource, namespace, labelSelector: selector, metadataOnly: true });
      if (E.isLeft(found))
        throw new Failure(`--prune: cannot list ${resource.plural} in ${namespace}: ${messageOf(found.left)}`);
      for (const { metadata } of found.right.items) {
        const { name = "", ownerReferences = [] } = metadata;
        const manifest: Manifest = { apiVersion, kind: resource.kind, metadata: { namespace, name } };
        if (!kept.has(nameOf(manifest)) && ownerReferences.length === 0)
          gone.push({ target: targetOf(manifest), type: "Delete" });
      }
    }
  return gone.toSorted((one, other) => kindOrder(other.target) - kindOrder(one.target));
};
