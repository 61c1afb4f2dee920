// Resolves an Apply to a Create or a Patch, and a Replace to a Create, by whether the target exists.
import { memoized } from "@janus/types";
import type { Change, ResolvedChange, Transaction } from "@janus/api";
import { changeIn, type Observations } from "./observations.ts";

/** A change that creates its target if it does not exist. */
type Making = Change & { readonly type: "Apply" | "Replace" };

const isMaking = (change: Change | undefined): change is Making =>
  change?.type === "Apply" || change?.type === "Replace";

/** Each as one object, so that what is memoized of a change is found again. */
const alternatives = memoized((change: Making) => ({
  absent: { ...change, type: "Create", isApply: true } satisfies ResolvedChange,
  there: (change.type === "Apply"
    ? { ...change, type: "Patch", isApply: true }
    : { ...change, type: "Replace" }) satisfies ResolvedChange,
}));

/** Whether what a change does is decided by its target. */
export const isOpen = (txn: Transaction, index: number): boolean => isMaking(txn.spec.changes[index]);

/** Whether the target of such a change exists: as recorded; until then, as read last. */
const existed = ({ status: { items } }: Transaction, known: Observations, index: number): boolean => {
  const state = items[index]?.state;
  if (state !== undefined && "before" in state) return state.before.existed;
  const { target, preflight } = changeIn(known, index);
  return target === undefined ? preflight?.existedAtFirst === true : target.object !== undefined;
};

/**
 * Resolves a change. An Apply is a Patch, and a Replace is one, if its target exists; if it does not, both are a Create.
 *
 * Guarantees: it stays the same once the Transaction is Prepared, in every process, since it follows from what
 *             is recorded of the target. A target that appears or goes later is a conflict, as for any Create,
 *             Patch or Delete.
 */
export const resolvedChange = (txn: Transaction, known: Observations, index: number): ResolvedChange | undefined => {
  const change = txn.spec.changes[index];
  if (!isMaking(change)) return change;
  const { there, absent } = alternatives(change);
  return existed(txn, known, index) ? there : absent;
};

/** All changes, by index. */
export const resolvedChanges = (txn: Transaction, known: Observations): readonly ResolvedChange[] =>
  txn.spec.changes.flatMap((_, index) => resolvedChange(txn, known, index) ?? []);
