// The refs of a clone: what is known of the branch on the server, and which commits it may not have yet.
import * as O from "fp-ts/lib/Option.js";
import { baseOfPending } from "./pending.ts";
import { type ObjectId, objectId } from "./object-id.ts";

/** The tip of the branch, as of the last push or comparison. */
export const TIP = "refs/journal/tip";
/** The tip as it was fetched last. */
export const FETCHED = "refs/journal/fetched";
/** The ref of commits that are made, and that the server is not known to have. */
export const PENDING = "refs/journal/pending";

/** Commits that the server may or may not have. */
export interface Pending {
  readonly head: ObjectId;
  /** The commit that they are on; undefined: the first of them is the first of the branch. */
  readonly base: ObjectId | undefined;
}

export interface Refs {
  readonly tip?: ObjectId;
  readonly fetched?: ObjectId;
  /** The time at which the fetched tip was committed, in s since 1970. */
  readonly fetchedAt?: number;
  readonly pending?: Pending;
}

/** The format of `git for-each-ref` that {@link parseRefs} reads. */
export const REFS_FORMAT = "%(refname) %(objectname) %(committerdate:unix) %(parent) %(contents:subject)";

/** Parses the output of `git for-each-ref` in {@link REFS_FORMAT}. */
export const parseRefs = (text: string): Refs =>
  text.split("\n").reduce<Refs>((refs, line) => {
    const [name = "", id = "", at = "", parent = "", ...subject] = line.split(" ");
    const own = O.toUndefined(objectId(id));
    const head = O.toUndefined(objectId(parent));
    if (own === undefined) return refs;
    if (name === TIP) return { ...refs, tip: own };
    if (name === FETCHED) return { ...refs, fetched: own, fetchedAt: Number(at) };
    if (name !== PENDING || head === undefined) return refs;
    const base = baseOfPending(subject.join(" "));
    return O.isNone(base) ? refs : { ...refs, pending: { head, base: base.value } };
  }, {});
