/**
 * Shares branches among replicas, by the Leases that each of them sees.
 *
 * Safety does not depend on it: only the holder of the Lease of a branch writes it, and only by fast-forward.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

const digest = (...parts: readonly string[]): string => bytesToHex(sha256(utf8ToBytes(parts.join("\n"))));

const MEMBER = "git-journal-member-";

/** The name of the Lease of a replica. */
export const memberLease = (identity: string): string => `${MEMBER}${digest(identity).slice(0, 16)}`;

export const isMemberLease = (name: string): boolean => name.startsWith(MEMBER);

/** The name of the Lease of a branch. */
export const branchLeaseName = (branch: string): string => `git-${branch}`;

/** A Lease, as a replica has seen it. */
export interface SeenLease {
  readonly holder: string;
  /** The instant at which it has lapsed, by the clock of the replica, unless it is seen to change before. */
  readonly free: number;
}

/** The replicas that share the branches. */
export interface View {
  readonly members: ReadonlySet<string>;
  /** Maps the names of Leases of branches to their holders. */
  readonly holders: ReadonlyMap<string, string>;
  /** The time at which another view follows from the same Leases. */
  readonly until: number;
}

/** The replica that looks, which is alive. */
export interface Self {
  readonly identity: string;
  /** The time since which it is a member: renewals that it has missed before, such as while it was cut off, tell nothing. */
  readonly since: number;
  /** The time without a renewal after which a Lease has lapsed, in ms. */
  readonly leaseDuration: number;
}

/** Finds the replicas that share the branches, by the Leases in a namespace and their names. */
export const viewOf = (
  leases: ReadonlyMap<string, SeenLease>,
  { identity, since, leaseDuration }: Self,
  now: number,
): View => {
  const lapses = ({ holder, free }: SeenLease): number =>
    holder === identity ? Number.POSITIVE_INFINITY : Math.max(free, since + leaseDuration);
  const held = [...leases].filter(([, one]) => one.holder !== "" && now < lapses(one));
  const members = held.flatMap(([name, { holder }]) => (isMemberLease(name) ? [holder] : []));
  return {
    members: new Set([identity, ...members]),
    holders: new Map(held.flatMap(([name, { holder }]) => (isMemberLease(name) ? [] : [[name, holder]]))),
    until: held.reduce((first, [, one]) => Math.min(first, lapses(one)), Number.POSITIVE_INFINITY),
  };
};

/** Whether the same replicas share the branches, and hold the same Leases. */
export const isSameView = (a: View, b: View): boolean =>
  a.members.size === b.members.size &&
  a.holders.size === b.holders.size &&
  [...a.members].every((one) => b.members.has(one)) &&
  [...a.holders].every(([name, holder]) => b.holders.get(name) === holder);

/**
 * Finds the member that writes a branch: the holder of its Lease, else the first in an order of the branch (rendezvous hashing).
 *
 * Guarantees: two replicas with the same view agree; where a member leaves, only its branches move, and where one joins, they move only
 *             to it.
 */
export const ownerOf = ({ members, holders }: Pick<View, "members" | "holders">, branch: string): string => {
  const holder = holders.get(branchLeaseName(branch));
  if (holder !== undefined && members.has(holder)) return holder;
  const rank = (member: string): string => digest(member, branch);
  return [...members].reduce((first, one) => (first === "" || rank(one) < rank(first) ? one : first), "");
};
