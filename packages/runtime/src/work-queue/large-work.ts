// Grants slots to keys whose work uses much memory.
import { elapsed } from "../process/clock.ts";

/** Keys that use much memory and are reconciled at the same time: bounds their memory, and the garbage that they leave. */
const SLOTS = 2;

/**
 * For this time a key keeps its slot while others wait, in ms: what it drops from memory, it must read again. One that others
 * wait for keeps it for longer while those that wait are not urgent.
 */
const SLICE = 5_000;
const URGENT_SLICE = 30_000;

/** One slot in so many that are granted goes to a key that is not urgent, if there is any. */
const TURNS = 4;

export interface Claim {
  /** Others wait for it: it has applied changes, or holds locks that they want. Asked only if it has to wait, or others do. */
  readonly isUrgent: () => boolean;
  /** How much of its work is not lost with its slot. "all": nothing is. */
  readonly kept: number | "all";
}

/** Slots for keys that use much memory while they are reconciled. */
export interface LargeWork {
  /** Whether this one has a slot now. If not, it is queued, and reconciled when it gets one. */
  readonly enter: (key: string, claim: Claim) => boolean;
  /** Whether it has had its slot for so long that others should have it. It should do only what it needs to keep its work. */
  readonly isOver: (key: string) => boolean;
  /** The reconcile is over: releases the slot, if there is one. */
  readonly leave: (key: string) => void;
}

interface Holder {
  readonly isUrgent: boolean;
  /** The time since which it has used its slot, and how much of its work was kept then; undefined: it has just been woken. */
  readonly since?: number;
  readonly kept?: Claim["kept"];
}

/** The waiting keys of one group. */
type Queue = Map<string, { readonly isUrgent: boolean }>;

/**
 * Bounds how many keys that use much memory are reconciled at the same time.
 *
 * Guarantees: while others are queued, a key gives its slot back after a bounded time, as soon as some of its work since then is
 *             kept, so that it gets on; a group has at most one slot, and groups take turns; keys that are urgent go first,
 *             but for every fourth slot.
 * Assumes:    a key that is woken is reconciled, and leaves.
 */
export const largeWork = (
  groupOf: (key: string) => string,
  wake: (key: string) => void,
  slots: number = SLOTS,
  now: () => number = elapsed,
): LargeWork => {
  /** Queues by group, in the order of their turns. */
  const waiting = new Map<string, Queue>();
  const holders = new Map<string, Holder>();
  let granted = 0;

  const isInside = (group: string): boolean => [...holders.keys()].some((key) => groupOf(key) === group);

  const firstOf = (isWanted: (isUrgent: boolean) => boolean): string | undefined => {
    for (const [group, queue] of waiting)
      if (!isInside(group)) for (const [key, { isUrgent }] of queue) if (isWanted(isUrgent)) return key;
    return undefined;
  };

  const next = (): string | undefined => {
    if (holders.size >= slots) return undefined;
    const [first, second] = granted % TURNS === TURNS - 1 ? [false, true] : [true, false];
    return firstOf((isUrgent) => isUrgent === first) ?? firstOf((isUrgent) => isUrgent === second);
  };

  /** @param self is being reconciled already */
  const grant = (self?: string): void => {
    for (let key = next(); key !== undefined; key = next()) {
      const group = groupOf(key);
      const queue: Queue = waiting.get(group) ?? new Map();
      const isUrgent = queue.get(key)?.isUrgent === true;
      queue.delete(key);
      waiting.delete(group);
      if (queue.size > 0) waiting.set(group, queue);
      holders.set(key, { isUrgent });
      granted += 1;
      if (key !== self) wake(key);
    }
  };

  const leave = (key: string): void => {
    if (holders.delete(key)) grant();
  };

  const isOver = (key: string): boolean => {
    const { since, isUrgent } = holders.get(key) ?? {};
    if (since === undefined || waiting.size === 0 || now() < since + SLICE) return false;
    if (isUrgent !== true || now() >= since + URGENT_SLICE) return true;
    return [...waiting.values()].some((queue) => [...queue.values()].some((other) => other.isUrgent));
  };

  return {
    enter: (key, { isUrgent, kept }) => {
      const holder = holders.get(key);
      if (holder !== undefined) {
        if (holder.since === undefined) holders.set(key, { isUrgent: isUrgent(), since: now(), kept });
        else if (isOver(key) && (kept === "all" || kept !== holder.kept)) leave(key);
        if (holders.has(key)) return true;
      }
      const group = groupOf(key);
      const queue: Queue = waiting.get(group) ?? new Map();
      waiting.set(group, queue.set(key, { isUrgent: isUrgent() }));
      grant(key);
      if (!holders.has(key)) return false;
      holders.set(key, { isUrgent: isUrgent(), since: now(), kept });
      return true;
    },
    isOver,
    leave,
  };
};
