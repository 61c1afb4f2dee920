// Ends a Transaction that has applied nothing as Failed, with every problem on its item.
import { cut, type Item } from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { updateStatus } from "../state/status-update.ts";
import { namedTarget } from "../state/target-resolution.ts";

export interface PreparationFailure {
  readonly reason: string;
  /** Problems by change. Default: none. */
  readonly problems?: ReadonlyMap<number, readonly string[]>;
  /** Problems that are of no one change. Default: none. */
  readonly general?: readonly string[];
  readonly event?: "LockFailed" | "Timeout";
}

/** A summary for conditions and events: the first problems in full, and the number of others. */
const summary = (problems: readonly string[]): string => {
  const shown = problems.slice(0, 10).join("; ");
  return problems.length > 10 ? `${shown}; and ${problems.length - 10} more, see status.items` : shown;
};

/** Ends a Transaction that has applied nothing: Failed, with every problem on its item. */
export const failUntouched = (
  { txn, known, now }: ReconcileContext,
  { reason, problems = new Map(), general = [], event }: PreparationFailure,
): ApiCall => {
  const items = txn.spec.changes.map((_, index): Item => {
    const found = problems.get(index);
    const lock = txn.status.items[index]?.lock;
    return {
      ...namedTarget(txn, known, index),
      ...(lock === undefined ? {} : { lock }),
      state: found === undefined ? { type: "untouched" } : { type: "refused", error: cut(found.join("; "), 256) },
    };
  });
  const all = [
    ...general,
    ...[...problems].flatMap(([index, found]) => found.map((text) => `changes[${index}]: ${text}`)),
  ];
  const message = `no changes were applied: ${cut(summary(all), 4096)}`;
  return updateStatus(
    txn,
    {
      phase: "Failed",
      items,
      because: { reason, message, ...(event === undefined ? {} : { eventMessage: "no changes were applied" }) },
    },
    now,
    ...(event === undefined ? [] : [{ type: "Warning" as const, reason: event, message: cut(message, 1024) }]),
  );
};
