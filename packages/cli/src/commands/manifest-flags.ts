// Composes the Transaction that the flags of plan and apply describe.
import { API_VERSION, KIND } from "@janus/api";
import { type Cluster, onCluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { compose } from "../manifests/compose.ts";
import { hookWarnings } from "../manifests/hooks.ts";
import type { Composed } from "../manifests/composed.ts";
import { pruned } from "../manifests/prune.ts";
import { readManifests } from "../manifests/read-manifests.ts";
import { withKinds } from "../manifests/skipped.ts";
import { withReplaced } from "../plan/with-replaced.ts";
import { withoutIdleNamespaces } from "../manifests/scoped.ts";
import { outputTo, painter } from "../output/style.ts";
import { composeFlags, type ManifestFlags } from "./flags.ts";

/** Composes the Transaction that the flags of plan and apply describe, and calls back in its namespace. */
export const onComposed = async (
  flags: ManifestFlags,
  work: (cluster: Cluster, composed: Composed) => Promise<number>,
): Promise<number> => {
  const read = await readManifests(flags);
  const errors = outputTo(process.stderr);
  for (const warning of hookWarnings(read)) errors.write(painter(errors)("yellow", `Warning: ${warning}\n`));
  return onCluster(flags, async (cluster) => {
    const located = await withoutIdleNamespaces(cluster.discovery, read);
    const own = located.find(({ manifest: { apiVersion, kind } }) => apiVersion === API_VERSION && kind === KIND);
    const { namespace: written } = own?.manifest.metadata ?? {};
    if (own !== undefined && written !== undefined && flags.namespace !== undefined && written !== flags.namespace)
      throw new Failure(
        `${own.where}: the namespace is ${written}, and --namespace is ${flags.namespace}: leave one out`,
      );
    if (own !== undefined && flags.prune === true)
      throw new Failure(
        `${own.where} is a Transaction, to which --prune adds nothing: list the deletions in its changes, and leave the flag out`,
      );
    if (own !== undefined && flags.replace === true)
      throw new Failure(
        `${own.where} is a Transaction, in which --replace changes nothing: use type Replace in its changes, and leave the flag out`,
      );
    const namespace = written !== undefined && own !== undefined ? written : cluster.namespace;
    const there = { ...cluster, namespace };
    const deletions = flags.prune === true ? await pruned(there, located, flags.selector) : [];
    // A Transaction refuses the flag, whatever it names.
    const named =
      own !== undefined || flags.skipWaitFor === undefined
        ? flags
        : { ...flags, skipWaitFor: await withKinds(there, located, flags.skipWaitFor) };
    const manifest = compose(located, namespace, composeFlags(named), deletions);
    const composed = { ...manifest, metadata: { ...manifest.metadata, namespace } };
    return work(there, {
      manifest: flags.replace === true ? await withReplaced(there, composed) : composed,
      ...(own === undefined ? { sources: located } : {}),
    });
  });
};
