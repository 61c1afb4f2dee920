// Tells of which other clusters folders of a repository are the mirrors.
import type { Owner } from "@janus/git-journal/way-back";
import { messageOf, namespaces } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";

/** Anybody may have written a marker, of any length. */
const uidOf = ({ clusterUid }: Owner): string => (/^[\w.-]{1,64}$/u.test(clusterUid) ? clusterUid : "unknown");

const shown = (folder: string): string => (folder === "" ? "the root of the repository" : folder);

/** Warnings about these folders, and the uids of the other clusters. */
export const othersOf = async (
  { api }: Pick<Cluster, "api">,
  owners: ReadonlyMap<string, Owner>,
): Promise<{ readonly warnings: readonly string[]; readonly uids: readonly string[] }> => {
  if (owners.size === 0) return { warnings: [], uids: [] };
  const read = await api.send({ verb: "get", resource: namespaces, name: "kube-system" });
  if (E.isLeft(read)) {
    const folders = [...owners.keys()].map(shown).join(", ");
    return { warnings: [`it cannot be told whether ${folders} is of this cluster: ${messageOf(read.left)}`], uids: [] };
  }
  const { uid } = read.right.metadata;
  const others = [...owners].filter(([, { clusterUid }]) => clusterUid !== uid);
  return {
    warnings: others.map(
      ([folder, owner]) =>
        `${shown(folder)} is the mirror of another cluster (uid ${uidOf(owner)}, and this one has ${uid}): go on only to have its objects here, too`,
    ),
    uids: [...new Set(others.map(([, owner]) => uidOf(owner)))].toSorted(),
  };
};
