import { fairTurns } from "@janus/kube";
import { elapsed } from "../process/clock.ts";

/** For this time a Transaction keeps its slot while others wait, in ms: what it drops from memory, it must read again. */
const SLICE = 30_000;

/** The slots of one group: large Transactions are much work for the API server, too, which other groups share. */
const PER_GROUP = 1;

/** Slots for Transactions that use much memory while they are reconciled. */
export interface LargeWork {
  /**
   * Whether this one has a slot now. If not, it is queued, and reconciled when it gets one.
   *
   * @param yields whether it releases a slot that it has had for long, since it can resume from there later
   */
  readonly enter: (key: string, yields: boolean) => boolean;
  /** The reconcile is over: releases the slot, if there is one. */
  readonly leave: (key: string) => void;
}

/**
 * Bounds how many keys that use much memory are reconciled at the same time.
 *
 * Guarantees: a slot is held for one reconcile only, so that no two keys wait for each other; while others are queued, one that
 *             yields has it for a bounded time, however long its reconcile is; a group has at most one slot, and groups take
 *             turns as in {@link fairTurns}.
 * Assumes:    a key that is woken is reconciled, and leaves.
 */
export const largeWork = (
  slots: number,
  groupOf: (key: string) => string,
  wake: (key: string) => void,
  now: () => number = elapsed,
): LargeWork => {
  const queue = fairTurns<string>(slots, PER_GROUP);
  const waiting = new Set<string>();
  /** The keys that have a slot, and since when they have used it. */
  const holders = new Map<string, number | undefined>();
  /** @param self is being reconciled already */
  const grant = (self?: string): void => {
    for (let key = queue.next(); key !== undefined; key = queue.next()) {
      waiting.delete(key);
      holders.set(key, key === self ? now() : undefined);
      if (key !== self) wake(key);
    }
  };
  const leave = (key: string): void => {
    if (!holders.delete(key)) return;
    queue.leave(groupOf(key));
    grant();
  };
  return {
    enter: (key, yields) => {
      if (holders.has(key)) {
        const since = holders.get(key) ?? now();
        holders.set(key, since);
        if (!yields || waiting.size === 0 || now() < since + SLICE) return true;
        leave(key);
      }
      if (!waiting.has(key)) {
        waiting.add(key);
        queue.join(groupOf(key), key);
        grant(key);
      }
      return holders.has(key);
    },
    leave,
  };
};
