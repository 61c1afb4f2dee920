import { API_VERSION, KIND } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import { type Cluster, openCluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { compose } from "../manifests/compose.ts";
import { pruned } from "../manifests/prune.ts";
import { readManifests } from "../manifests/read-manifests.ts";
import { withoutIdleNamespaces } from "../manifests/scoped.ts";
import { composeFlags, type ManifestFlags } from "./flags.ts";

/** What the flags of plan and apply ask for: the Transaction, and the cluster with its namespace. */
export const composed = async (
  flags: ManifestFlags,
): Promise<{ readonly cluster: Cluster; readonly manifest: TransactionManifest }> => {
  const read = readManifests(flags.filename, flags.recursive);
  const cluster = openCluster(flags);
  const located = await withoutIdleNamespaces(cluster.discovery, read);
  const own = located.find(({ manifest: { apiVersion, kind } }) => apiVersion === API_VERSION && kind === KIND);
  const { namespace: written } = own?.manifest.metadata ?? {};
  if (own !== undefined && written !== undefined && flags.namespace !== undefined && written !== flags.namespace)
    throw new Failure(
      `${own.where}: the namespace is ${written}, and --namespace is ${flags.namespace}: leave one out`,
    );
  const namespace = written !== undefined && own !== undefined ? written : cluster.namespace;
  const there = { ...cluster, namespace };
  const deletions = flags.prune === true ? await pruned(there, located, flags.selector) : [];
  const manifest = compose(located, namespace, composeFlags(flags), deletions);
  return { cluster: there, manifest: { ...manifest, metadata: { ...manifest.metadata, namespace } } };
};
