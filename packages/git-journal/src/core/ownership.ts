// Decides whose folder of a branch it is: of several destinations in one cluster, and by the marker, of several clusters.
import { asObject, readYaml } from "@janus/types";
import { API_VERSION } from "../api/names.ts";
import { canonicalYaml } from "./canonical.ts";
import type { BaseFolder } from "./path.ts";

/** The claim of a destination to a place that others may want, too. */
export interface Claim {
  /** The name of the destination, such as `shop/prod`. */
  readonly destination: string;
  readonly creationTimestamp: string;
  readonly uid: string;
  /** The repository and branch, in a form that is the same for all spellings. */
  readonly branch: string;
  readonly folder: BaseFolder;
  /** The credentials: destinations with the same ones may push the same. */
  readonly credentials: string;
  /**
   * `owner`: the marker in the folder is its own, so that it may push; `refused`: the server does not let it in, and it takes the
   * folder from nobody.
   */
  readonly standing: "owner" | "unknown" | "refused";
}

const STANDINGS: readonly Claim["standing"][] = ["owner", "unknown", "refused"];

const rank = ({ standing, creationTimestamp, uid }: Claim): string =>
  `${STANDINGS.indexOf(standing)} ${creationTimestamp} ${uid}`;

/** Orders owners first and refused claims last, then by age; those of the same second by uid, so that all replicas agree. */
const byRank = (a: Claim, b: Claim): number => (rank(a) < rank(b) ? -1 : 1);

/** The contest for a folder, which is that of the first marker in the branch. */
export interface Contest {
  readonly rivals: readonly string[];
  /** Whether there is an older rival: then any marker but its own in the folder stops all writes. */
  readonly yields: boolean;
}

export interface Claims {
  /** Maps each destination that may not write to the one that has the same folder of the same branch before it. */
  readonly conflicts: ReadonlyMap<string, string>;
  readonly contests: ReadonlyMap<string, Contest>;
}

/** Returns those that may have the folder, the oldest first: it is not known which of several credentials may push. */
const contenders = ([first, ...others]: readonly Claim[]): readonly Claim[] => {
  if (first === undefined || first.standing !== "unknown") return first === undefined ? [] : [first];
  const all = [first, ...others].filter(({ standing }) => standing === "unknown");
  return all.filter(({ credentials }, at) => all.findIndex((one) => one.credentials === credentials) === at);
};

/**
 * Decides which destination may write each folder. Nested folders are no conflict.
 *
 * Guarantees: it is the one whose marker is there, else the oldest that may push; one that may not be able to blocks no other.
 */
export const claimsOf = (claims: readonly Claim[]): Claims => {
  const conflicts = new Map<string, string>();
  const contests = new Map<string, Contest>();
  const places = Map.groupBy(claims.toSorted(byRank), ({ branch, folder }) => JSON.stringify([branch, folder]));
  for (const all of places.values()) {
    const free = contenders(all);
    for (const [at, { destination }] of free.length > 1 ? free.entries() : []) {
      const rivals = free.map((one) => one.destination).filter((one) => one !== destination);
      contests.set(destination, { rivals, yields: at > 0 });
    }
    for (const one of all) {
      if (free.includes(one)) continue;
      const owner = free.find(({ credentials }) => credentials === one.credentials) ?? free[0];
      if (owner !== undefined) conflicts.set(one.destination, owner.destination);
    }
  }
  return { conflicts, contests };
};

/** The owner of a folder, who writes it. */
export interface Owner {
  /** The uid of the namespace kube-system. */
  readonly clusterUid: string;
  readonly destination: string;
}

const KIND = "Owner";

/** The text of the marker, which is in the first commit of a destination. */
export const marker = ({ clusterUid, destination }: Owner): string =>
  canonicalYaml({ apiVersion: API_VERSION, kind: KIND, clusterUID: clusterUid, destination });

/** Reads a marker; undefined: it says nothing that can be read. */
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
  /** A folder without a marker, which a person may have removed: it is written. */
  | { readonly type: "free" }
  /** A folder with another's marker, which is left: nothing at all is written in exclusive mode, or if a contest forbids it. */
  | { readonly type: "anothers"; readonly isBlocked: boolean; readonly message: string };

/** Decides the owner of a folder by the text of its marker; undefined: there is none. */
export const ownershipBy = (
  text: string | undefined,
  us: Owner,
  exclusiveMode: boolean,
  contest?: Contest,
): Ownership => {
  if (text === undefined) return { type: "free" };
  const owner = readMarker(text);
  const isOfCluster = owner?.clusterUid === us.clusterUid;
  if (isOfCluster && owner.destination === us.destination) return { type: "ours" };
  const isRivals = isOfCluster && contest?.rivals.includes(owner.destination) === true;
  const other =
    owner === undefined
      ? "somebody whose marker cannot be read"
      : `GitDestination ${owner.destination} of ${isOfCluster ? "this cluster" : `the cluster with uid ${owner.clusterUid}`}`;
  return {
    type: "anothers",
    isBlocked: exclusiveMode || isRivals || contest?.yields === true,
    message: `the folder is that of ${other}: use another baseFolder, or, if that writes here no more, remove .configbutler/owner.yaml in it`,
  };
};
