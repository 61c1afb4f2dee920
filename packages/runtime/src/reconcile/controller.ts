// The interface of a controller: what should happen, as pure functions. The runtime makes it happen.
import type { ApiError, Instant, KubeObject } from "@janus/types";

/** The next thing to do. */
export type Step<Effect> =
  /** Concurrently; then decide again. */
  | { readonly type: "run"; readonly effects: readonly Effect[] }
  /** Nothing to do before this instant (infinite: ever), unless the object changes. */
  | { readonly type: "wait"; readonly until: Instant; readonly because: string }
  /** Nothing left to do. */
  | { readonly type: "done" };

/** What happens to every object that is reconciled, beside what is the controller's own. */
export type Passed =
  /** An effect has failed: what is next is decided after a pause. */
  | { readonly type: "pausing"; readonly at: Instant }
  /** Nothing failed: it waits. */
  | { readonly type: "waiting" };

/** What is remembered after something has happened, and what follows of that at once. */
export interface Observed<Memory> {
  readonly memory: Memory;
  /** Why the effect has to be carried out again, after a pause. */
  readonly failed?: ApiError;
  /** Another client has written the object: it has to be read again. */
  readonly isStale?: true;
}

/** The circumstances of a decision. */
export interface Turn {
  readonly now: Instant;
  /** Whether there is memory for more than what is remembered already. */
  readonly hasMemory: boolean;
  /** It has had memory for long, and others wait for that: it keeps the work that is done. */
  readonly isOver: boolean;
}

/** How much of its work is lost with its memory, and whether others wait for it. */
export interface Claim {
  /** Others wait for it: it has applied changes, or holds locks that they want. Asked only if it has to wait, or others do. */
  readonly isUrgent: () => boolean;
  /** How much of its work is not lost with its slot. "all": nothing is. */
  readonly kept: number | "all";
}

/**
 * A controller of the objects of one kind.
 *
 * Memory: one of these objects, as it was last read or written, with what this process has observed of its surroundings since.
 * Effect: a request to the API server, or anything else that is to be done: plain data. Happened: an answer, or any other event.
 * Next: a step, perhaps with more in it than the runtime asks for.
 *
 * Guarantees (runtime): an object is never decided on twice at once; what has happened is folded in before the next decision; a
 *                       decision is made on a live read; after a restart, or when memory is short, nothing is remembered.
 * Assumes (controller): all of these functions are pure and total; what is remembered can be observed again; an effect is one
 *                       request, or can be repeated.
 */
export interface Controller<Memory, Effect, Happened, Next extends Step<Effect> = Step<Effect>> {
  /** What is remembered of an object that was just read, and of which nothing was known. */
  readonly remember: (object: KubeObject, now: Instant) => Memory;
  /**
   * What is remembered of it when it is read again; undefined: nothing that was observed is true any more, and what is still to be
   * answered concerns it no longer. Default: it is remembered anew.
   */
  readonly refresh?: (memory: Memory, object: KubeObject) => Memory | undefined;
  readonly decide: (memory: Memory, turn: Turn) => Next;
  /** Folds what happened into what is remembered. */
  readonly observe: (memory: Memory, happened: Happened | Passed) => Observed<Memory>;
  /** What there is to do for an object that no longer exists; undefined: nothing. Default: nothing. */
  readonly afterDeletion?: (memory: Memory, now: Instant) => Memory | undefined;
  /** Whether what was observed is needed again after a wait, for which it takes memory. Default: it is. */
  readonly isKept?: (memory: Memory, wait: Next) => boolean;
  /** The most effects that are carried out at the same time. Default: 16. */
  readonly lanes?: (memory: Memory) => number;
  /** Claims one of the few slots for what uses much memory; undefined: it uses little. Default: all use little. */
  readonly claim?: (memory: Memory, now: Instant) => Claim | undefined;
  /**
   * Whether effects that have not begun are left for later once it has had memory for so long that others should have it. Default:
   * they are not.
   */
  readonly mayEndEarly?: (memory: Memory) => boolean;
  /** The most decisions in one turn, more than any object needs: a defect must not flood the API server. Default: 1000. */
  readonly mostSteps?: (memory: Memory) => number;
}
