import { type ChangeManifest, kindOrder, type Manifest, targetOf } from "@janus/authoring";
import { messageOf } from "@janus/controller";
import { isIrreplaceable } from "@janus/controller/core/kubernetes/irreplaceable-kinds";
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
    [...KINDS, ...manifests.map(({ apiVersion, kind }) => [apiVersion, kind] as const)]
      // Their deletion cannot be undone, so it is never implied.
      .filter(([apiVersion, kind]) => !isIrreplaceable({ apiVersion, kind }))
      .map(([apiVersion, kind]) => [`${apiVersion}/${kind}`, [apiVersion, kind] as const]),
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
 * Deletes of the objects that have the labels and are not among the manifests: in the namespaces of the manifests,
 * of their kinds and the common ones, and not what belongs to another object. The last kinds come first.
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
      `${unlabelled.where}: ${unlabelled.manifest.kind} ${unlabelled.manifest.metadata.name} has not the labels ${selector}: ` +
        "the next --prune would not find it; add them",
    );
  const manifests = located.map(({ manifest }) => manifest);
  const kept = new Set(
    manifests.map((manifest) =>
      nameOf({ ...manifest, metadata: { namespace: cluster.namespace, ...manifest.metadata } }),
    ),
  );
  const namespaces = new Set([cluster.namespace, ...manifests.flatMap(({ metadata }) => metadata.namespace ?? [])]);
  const kinds = await kindsOf(cluster, manifests);
  const gone: ChangeManifest[] = [];
  for (const namespace of namespaces)
    for (const [apiVersion, resource] of kinds.filter(([, { namespaced }]) => namespaced)) {
      const listed = await listAll(cluster.api, { resource, namespace, labelSelector: selector, metadataOnly: true });
      if (E.isLeft(listed))
        throw new Failure(`--prune: cannot list ${resource.plural} in ${namespace}: ${messageOf(listed.left)}`);
      for (const { metadata } of listed.right.items) {
        const { name = "", ownerReferences = [] } = metadata;
        const manifest: Manifest = { apiVersion, kind: resource.kind, metadata: { namespace, name } };
        if (!kept.has(nameOf(manifest)) && ownerReferences.length === 0)
          gone.push({ target: targetOf(manifest), type: "Delete" });
      }
    }
  return gone.toSorted((one, other) => kindOrder(other.target) - kindOrder(one.target));
};
