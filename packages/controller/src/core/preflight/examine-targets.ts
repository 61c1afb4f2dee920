// Reads, dry-runs and snapshots the targets in parts that fit into memory.
import type { Transaction } from "@janus/api";
import { ENOUGH_LIVE, MOST_LIVE } from "../state/memory-budget.ts";
import type { ApiCall } from "../state/effect.ts";
import { takeSnapshots, liveBytes } from "../snapshots/take-snapshots.ts";
import { changeIn, type Observations, withChanges } from "../state/observations.ts";
import type { KeepDryRun } from "../state/preflight-observations.ts";
import { firstPosition } from "./permissions.ts";
import { examine, problems } from "./preflight.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";

/** Targets that are read in one step while their size is unknown: many Transactions may do this at the same time … */
const FIRST = 1;
/** … and the maximum, however small they are. */
const MOST = 64;

/** How many more targets may be read. */
const room = (known: Observations): number => {
  const { bytes, count } = liveBytes(known);
  if (count === 0) return FIRST;
  return Math.max(0, Math.min(MOST, Math.floor(((MOST_LIVE - bytes) * count) / bytes)));
};

/** The requests that are still needed; refused: a snapshot cannot be written. */
export type Examination =
  | { readonly type: "requests"; readonly requests: readonly ApiCall[] }
  | { readonly type: "refused"; readonly why: string };

/**
 * The requests that are still needed for the preflight, and beside the last of them the first snapshots, and the journal. Large
 * targets are read in parts: before more are read, the snapshots of some are written, and they are removed from memory.
 *
 * Guarantees: the targets of a Transaction take at most a few MiB at any time, whatever their number and size;
 *             every problem is found.
 */
export const examination = (
  txn: Transaction,
  known: Observations,
  items: readonly ResolvedItem[],
  keep: KeepDryRun,
): Examination => {
  const isRead = ({ index }: ResolvedItem): boolean => changeIn(known, index).target !== undefined;
  const requests = items.flatMap((item) => (isRead(item) ? examine(txn, known, item, keep) : []));
  const unread = items.filter((item) => !isRead(item));
  if (requests.length === 0 && unread.length === 0) return { type: "requests", requests };
  const reading = (count: number): readonly ApiCall[] =>
    unread.slice(0, count).flatMap((item) => examine(txn, known, item, keep));
  const isMuch = liveBytes(known).bytes > ENOUGH_LIVE;
  const isHopeless = items.some((item) => problems(txn, item, known).length > 0);
  if (unread.length === 0) {
    // Waits for the dry runs where it is much: only outlines are left once the snapshots are written. A refusal is told after problems.
    const isTime = !isMuch && !isHopeless;
    const snapshots = isTime ? takeSnapshots(txn, known, firstPosition(txn, known)) : undefined;
    return { type: "requests", requests: [...requests, ...(snapshots?.type === "writing" ? snapshots.effects : [])] };
  }
  // It has failed already, so no snapshots are needed: only the remaining problems are collected.
  if (isHopeless)
    return {
      type: "requests",
      requests: [...requests, ...reading(requests.length > 0 ? room(known) : Math.max(1, room(known)))].map(
        (request) => ({
          ...request,
          folds: [...request.folds, { type: "tried-outlined" }],
        }),
      ),
    };
  const reads = reading(room(known));
  if (!isMuch || requests.length > 0) return { type: "requests", requests: [...requests, ...reads] };
  const snapshots = takeSnapshots(txn, known, firstPosition(txn, known));
  if (snapshots.type === "refused") return snapshots;
  if (snapshots.type === "writing") return { type: "requests", requests: [...reads, ...snapshots.effects] };
  return { type: "requests", requests: reads.length > 0 ? reads : reading(1) };
};

/**
 * Writes the snapshots of what is examined so far, before the rest is dropped from memory: only that has to be read again. None are
 * needed of what has failed.
 */
export const keepExamined = (
  txn: Transaction,
  known: Observations,
  items: readonly ResolvedItem[],
  keep: KeepDryRun,
): readonly ApiCall[] => {
  const open = items.filter((item) => examine(txn, known, item, keep).length > 0);
  if (open.length === items.length || items.some((item) => problems(txn, item, known).length > 0)) return [];
  const examined = withChanges(
    known,
    open.map(({ index }) => [index, { target: undefined }]),
  );
  const snapshots = takeSnapshots(txn, examined, firstPosition(txn, known));
  return snapshots.type === "writing" ? snapshots.effects : [];
};
