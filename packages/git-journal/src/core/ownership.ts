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
  /** Those with the same may push the same. */
  readonly credentials: string;
  /**
   * owner: the marker that is in the folder is its own, so that it may push; refused: the server does not let it in, and it takes the
   * folder from nobody.
   */
  readonly standing: "owner" | "unknown" | "refused";
}

const STANDINGS: readonly Claim["standing"][] = ["owner", "unknown", "refused"];

const rank = ({ standing, creationTimestamp, uid }: Claim): string =>
  `${STANDINGS.indexOf(standing)} ${creationTimestamp} ${uid}`;

/** Owners first, those that are refused last, and then the older; of the same second by uid, so that all replicas agree. */
const byRank = (a: Claim, b: Claim): number => (rank(a) < rank(b) ? -1 : 1);

/** Others that may turn out to have its folder: it is whose marker is in the branch first. */
export interface Contest {
  readonly rivals: readonly string[];
  /** There is an older one: where any marker but its own is in the folder, nothing is written. */
  readonly yields: boolean;
}

export interface Claims {
  /** For each destination that may not write, the one that has the same folder of the same branch before it. */
  readonly conflicts: ReadonlyMap<string, string>;
  readonly contests: ReadonlyMap<string, Contest>;
}

/** Those that may have the folder, the oldest first: of several with other credentials it is not known which of them may push. */
const contenders = ([first, ...others]: readonly Claim[]): readonly Claim[] => {
  if (first === undefined || first.standing !== "unknown") return first === undefined ? [] : [first];
  const all = [first, ...others].filter(({ standing }) => standing === "unknown");
  return all.filter(({ credentials }, at) => all.findIndex((one) => one.credentials === credentials) === at);
};

/**
 * Who may write each folder. Nested folders are no conflict.
 *
 * Guarantees: it is who has the marker in it, then the oldest that may push; who has not shown that he may keeps it from nobody else.
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
  /** Another's: its marker is left, and nothing is written at all in exclusive mode, or in a contest. */
  | { readonly type: "anothers"; readonly isBlocked: boolean; readonly message: string };

/** Whose folder it is by the marker that is in it; undefined: there is none. */
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
