import type { Change, ResolvedChange, Transaction } from "@janus/api";
import { memoized } from "../kubernetes/memoize.ts";
import { changeIn, type Observations } from "./observations.ts";

/** Each as one object, so that what is memoized of a change is found again. */
const alternatives = memoized((change: Change & { readonly type: "Apply" }) => ({
  create: { ...change, type: "Create", isApply: true } satisfies ResolvedChange,
  patch: { ...change, type: "Patch", isApply: true } satisfies ResolvedChange,
}));

/** Whether the target of an Apply exists: as recorded; until then, as read last. */
const existed = ({ status: { items } }: Transaction, known: Observations, index: number): boolean => {
  const state = items[index]?.state;
  if (state !== undefined && "before" in state) return state.before.existed;
  const { target, preflight } = changeIn(known, index);
  return target === undefined ? preflight?.existedAtFirst === true : target.object !== undefined;
};

/**
 * What a change does. An Apply is a Patch if its target exists, and a Create if it does not.
 *
 * Guarantees: it stays the same once the Transaction is Prepared, in every process, since it follows from what
 *             is recorded of the target. A target that appears or goes later is a conflict, as for any Create or
 *             Patch.
 */
export const resolvedChange = (txn: Transaction, known: Observations, index: number): ResolvedChange | undefined => {
  const change = txn.spec.changes[index];
  if (change?.type !== "Apply") return change;
  const { create, patch } = alternatives(change);
  return existed(txn, known, index) ? patch : create;
};

/** All changes, by index. */
export const resolvedChanges = (txn: Transaction, known: Observations): readonly ResolvedChange[] =>
  txn.spec.changes.flatMap((_, index) => resolvedChange(txn, known, index) ?? []);
