/**
 * Remembers who made which version of a file, until it is pushed.
 *
 * It only tells authors: what is written follows from comparing the live objects with the tree. So it may be bounded, or lost.
 */
import type { Instant } from "@janus/types";
import type { Operation } from "../api/watch-rule.ts";
import type { FilePath } from "./path.ts";

/** The author of a change; unknown: the bot commits it. */
export type By =
  | { readonly type: "user"; readonly name: string }
  | { readonly type: "transaction"; readonly uid: string }
  | { readonly type: "unknown" };

export const UNKNOWN: By = { type: "unknown" };

/** Returns a key that is equal for the same author. */
export const authorKey = (by: By): string =>
  by.type === "user" ? `user ${by.name}` : by.type === "transaction" ? `transaction ${by.uid}` : "unknown";

/** The content of a file in one version. */
export interface Version {
  readonly fingerprint: string;
  readonly bytes: number;
}

/** A version of a file, as a watch has shown it. */
export interface Touch {
  /** The number of the touch; later ones are greater. */
  readonly number: number;
  readonly path: FilePath;
  /** The version; undefined: there is no object. */
  readonly version: Version | undefined;
  readonly operations: ReadonlySet<Operation>;
  readonly by: By;
  /** The time at which the first of those that it stands for was shown. */
  readonly at: Instant;
}

export interface History {
  readonly touches: readonly Touch[];
  /** The users whose changes were too many to be told apart. */
  readonly others: ReadonlySet<string>;
}

export const NO_HISTORY: History = { touches: [], others: new Set() };

/** The most changes that are told apart while nothing can be pushed. */
const MOST = 10_000;

const nextNumber = ({ touches }: History): number => (touches.at(-1)?.number ?? 0) + 1;

/** Keeps only the touches of Transactions, which have bounds of their own, and the names of the other users. */
const overflown = ({ touches, others }: History): History => ({
  touches: touches.filter(({ by }) => by.type === "transaction"),
  others: new Set([...others, ...touches.flatMap(({ by }) => (by.type === "user" ? [by.name] : []))]),
});

/**
 * Adds one more version. Of versions of a file that one author made one after the other, only the last counts.
 *
 * Guarantees: bounded; beyond the bound all users are still named, but not which change is whose.
 */
export const recorded = (history: History, touch: Omit<Touch, "number">): History => {
  const { touches, others } = history;
  const at = touches.findLastIndex(({ path }) => path === touch.path);
  const last = touches[at];
  const isSame = last !== undefined && authorKey(last.by) === authorKey(touch.by);
  const added = { ...touch, number: nextNumber(history), at: isSame ? last.at : touch.at };
  const longer = { touches: [...(isSame ? touches.toSpliced(at, 1) : touches), added], others };
  return longer.touches.length > MOST ? overflown(longer) : longer;
};

/** Drops, after a push, the touches of each file up to the one that was committed. */
export const withoutPushed = (
  { touches, others }: History,
  files: readonly { readonly path: FilePath; readonly touch: number }[],
): History => {
  const upTo = new Map(files.map(({ path, touch }) => [path, touch]));
  return { touches: touches.filter(({ path, number }) => number > (upTo.get(path) ?? 0)), others };
};

/** Drops, after all was pushed that was due, the touches up to `upTo`, which changed nothing in the end; held ones stay. */
export const settled = ({ touches }: History, upTo: number, isHeld: (path: FilePath) => boolean): History => ({
  touches: touches.filter(({ number, path }) => number > upTo || isHeld(path)),
  others: new Set(),
});

/** Drops the touches of a file whose versions cannot be written any more; their users are still named. */
export const forgotten = ({ touches, others }: History, path: FilePath): History => ({
  touches: touches.filter((touch) => touch.path !== path),
  others: new Set([
    ...others,
    ...touches.flatMap((touch) => (touch.path === path && touch.by.type === "user" ? [touch.by.name] : [])),
  ]),
});
