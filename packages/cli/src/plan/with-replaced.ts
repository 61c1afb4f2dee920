// Turns edits of immutable fields into a Replace of their object.
import type { ChangeManifest, TransactionManifest } from "@janus/authoring";
import { isImmutable } from "@janus/controller/core/kubernetes/immutable-fields";
import type { Cluster } from "../cluster/cluster.ts";
import { runPreview } from "./run-preview.ts";

/**
 * The same Transaction, with a Replace of each object of which the API server refuses the edit, since a field of it is immutable.
 *
 * @param wholeOf what is created then. Default: the content of the change
 */
export const withReplaced = async (
  cluster: Cluster,
  manifest: TransactionManifest,
  wholeOf: (change: ChangeManifest) => Pick<ChangeManifest, "content"> = () => ({}),
): Promise<TransactionManifest> => {
  const { changes, txn } = await runPreview(cluster, manifest, cluster.namespace);
  const refused = new Set(
    changes
      .filter(({ index, type, problems }) => {
        const target = txn.spec.changes[index]?.target;
        return target !== undefined && problems.some((problem) => isImmutable({ type, target }, problem));
      })
      .map(({ index }) => index),
  );
  const replaced = (change: ChangeManifest, index: number): ChangeManifest =>
    refused.has(index) ? { ...change, ...wholeOf(change), type: "Replace" } : change;
  return { ...manifest, spec: { ...manifest.spec, changes: manifest.spec.changes.map(replaced) } };
};
