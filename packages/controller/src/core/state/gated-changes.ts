// Selects the changes whose gates are waited for now.
import type { Transaction } from "@janus/api";
import { isGated } from "../gates/gates-of.ts";
import { firstIrreversible } from "./irreversible-deletions.ts";

/**
 * The changes whose gates are waited for when those before `cursor` are in, and the one at it was not sent: of the last one before it;
 * or, with `waitAt: End`, of all of them once all are in. Deletions that cannot be undone are sent only after that, since a gate that is
 * not met rolls everything back.
 */
export const gatedChanges = (txn: Transaction, cursor: number): readonly number[] => {
  const { changes, waitAt } = txn.spec;
  if (waitAt !== "End") return cursor > 0 && isGated(txn, cursor - 1) ? [cursor - 1] : [];
  const deletion = firstIrreversible(txn, changes.length);
  const end = deletion === undefined ? changes.length : changes.indexOf(deletion);
  return cursor === end ? [...changes.keys()].slice(0, end).filter((index) => isGated(txn, index)) : [];
};
