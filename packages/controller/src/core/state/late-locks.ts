// Lists the changes whose locks are taken in their turn.
import type { Transaction } from "@janus/api";

/** The changes whose locks are taken in their turn; see `record-prepared.ts`. */
export const unauthorizedChanges = (txn: Transaction): ReadonlySet<number> =>
  new Set(txn.status.items.flatMap(({ lock }, index) => (lock === undefined ? [index] : [])));
