// Decides whose folder of a branch it is: of several destinations in one cluster, and by the marker, of several clusters.
import { asObject, readYaml } from "@janus/types";
import { API_VERSION } from "../api/names.ts";
import { canonicalYaml } from "./canonical.ts";
import type { BaseFolder } from "./path.ts";

/** A destination, as far as others may want the same place. */
export interface Claim {
  /** Such as `shop/prod`. */
  readonly destination: string;
  readonly creationTimestamp: string;
  readonly uid: string;
  /** The repository and branch, in a form that is the same for all spellings. */
  readonly branch: string;
  readonly folder: BaseFolder;
  /** The server does not let it in: it takes the folder from nobody. */
  readonly isRefused: boolean;
}

const rank = ({ isRefused, creationTimestamp, uid }: Claim): string =>
  `${isRefused ? "after" : "able"} ${creationTimestamp} ${uid}`;

/** Older first, those that are refused last; of the same second by uid, so that all replicas agree. */
const byRank = (a: Claim, b: Claim): number => (rank(a) < rank(b) ? -1 : 1);

/** For each destination that may not write, the one that has the same folder of the same branch before it. Nested folders are no conflict. */
export const conflictingClaims = (claims: readonly Claim[]): ReadonlyMap<string, string> => {
  const owners = new Map<string, string>();
  const conflicts = new Map<string, string>();
  for (const { destination, branch, folder } of claims.toSorted(byRank)) {
    const place = JSON.stringify([branch, folder]);
    const owner = owners.get(place);
    if (owner === undefined) owners.set(place, destination);
    else conflicts.set(destination, owner);
  }
  return conflicts;
};

/** Who writes a folder. */
export interface Owner {
  /** The uid of the namespace kube-system. */
  readonly clusterUid: string;
  readonly destination: string;
}

const KIND = "Owner";

/** The text of the marker, which is in the first commit of a destination. */
export const marker = ({ clusterUid, destination }: Owner): string =>
  canonicalYaml({ apiVersion: API_VERSION, kind: KIND, clusterUID: clusterUid, destination });

/** What a marker says; undefined: it says nothing that can be read. */
export const readMarker = (text: string): Owner | undefined => {
  try {
    const { kind, clusterUID, destination } = asObject(readYaml(text)[0]?.value);
    return kind === KIND && typeof clusterUID === "string" && typeof destination === "string"
      ? { clusterUid: clusterUID, destination }
      : undefined;
  } catch {
    return undefined;
  }
};

export type Ownership =
  | { readonly type: "ours" }
  /** Nobody's, or a person has removed it: it is written. */
  | { readonly type: "free" }
  /** Another's: its marker is left, and nothing is written at all in exclusive mode. */
  | { readonly type: "anothers"; readonly isBlocked: boolean; readonly message: string };

/** Whose folder it is by the marker that is in it; undefined: there is none. */
export const ownershipBy = (text: string | undefined, us: Owner, exclusiveMode: boolean): Ownership => {
  if (text === undefined) return { type: "free" };
  const owner = readMarker(text);
  if (owner?.clusterUid === us.clusterUid && owner.destination === us.destination) return { type: "ours" };
  const other =
    owner === undefined
      ? "somebody whose marker cannot be read"
      : `GitDestination ${owner.destination} of ${owner.clusterUid === us.clusterUid ? "this cluster" : `the cluster with uid ${owner.clusterUid}`}`;
  return {
    type: "anothers",
    isBlocked: exclusiveMode,
    message: `the folder is that of ${other}: use another baseFolder, or, if that writes here no more, remove .configbutler/owner.yaml in it`,
  };
};
