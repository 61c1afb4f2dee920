// The requests that a decision returns, as data: API calls, lists and discovery, each with its purpose.
import type { Instant, KubeObject } from "@janus/types";
import type { ObjectRef, Version } from "../kubernetes/kube-object.ts";
import type { Fault, Fold } from "./fold.ts";
import type { Owned, Unlisted } from "./listings.ts";

/**
 * One request to the API server. Update and apply have their preconditions in the metadata of the body, as in
 * Kubernetes.
 */
export type Call =
  | { readonly verb: "get"; readonly place: ObjectRef }
  | { readonly verb: "create"; readonly place: ObjectRef; readonly body: object; readonly manager: string }
  | { readonly verb: "update"; readonly place: ObjectRef; readonly body: object; readonly manager: string }
  | { readonly verb: "apply"; readonly place: ObjectRef; readonly body: object; readonly manager: string }
  | { readonly verb: "mergePatch"; readonly place: ObjectRef; readonly body: object; readonly subresource?: "status" }
  | { readonly verb: "delete"; readonly place: ObjectRef; readonly preconditions: Partial<Version> };

/** The purpose of a request: a label in metrics, logs and crash tests. */
export type Purpose =
  | "finalizer"
  | "annotate"
  | "record"
  | "expire"
  | "report-unreadable"
  | "read-service-account"
  | "read-namespace"
  | "read-contents"
  | "read-target"
  | "review"
  | "dry-run"
  | "change"
  | "fold-managers"
  | "restore"
  | "lock"
  | "read-lock"
  | "read-holder"
  | "request-yield"
  | "renew-lock"
  | "release-lock"
  | "store"
  | "read-store"
  | "release-store"
  | "journal"
  | "read-journal"
  | "checkpoint";

/** An event on the Transaction, recorded when its effect has succeeded. */
export interface EventSpec {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The index of its change, for logs. */
  readonly item?: number;
}

/**
 * One request, and how its response is folded into the observations (other responses may have arrived meanwhile). Its folds never
 * get a transient error: for those there is `unanswered`, and the Transaction is reconciled again after a pause.
 */
export type Effect = ApiCall | Discover | FindOwned | FindPods | FindEvents;

export interface ApiCall {
  readonly purpose: Purpose;
  /** Targets are read and written as the Transaction's ServiceAccount, everything else as the controller. */
  readonly as: "controller" | "serviceAccount";
  readonly call: Call;
  readonly dryRun?: true;
  /**
   * An earlier change creates the kind: if it is not served (yet), that is a response; otherwise it is a
   * transient error.
   */
  readonly mayBeUnserved?: boolean;
  /** The index of its change. */
  readonly item?: number;
  /** How its answer is folded into the observations: one after the other. */
  readonly folds: readonly Fold[];
  /**
   * It is retried until it is done: its folds get only success, or that the object is absent; after anything
   * else, what is `unanswered` is folded in.
   * unless-refused: its folds get a permanent rejection, too.
   * unless-denied: its folds get a missing permission of the controller, too.
   * unless-conflict: its folds get a conflict, too.
   */
  readonly untilDone?: true | "unless-refused" | "unless-denied" | "unless-conflict";
  /** How it is folded in that there was none: resets observations that are uncertain then. Default: not at all. */
  readonly unanswered?: readonly Fault[];
  readonly events?: readonly EventSpec[];
}

/** Discovers where a kind is served; `undefined` if it is not served in this apiVersion. */
export interface Discover {
  readonly purpose: "discover";
  readonly apiVersion: string;
  readonly kind: string;
  /** A kind that is not served is a mistake: it is also looked up where one of this name, or one like it, is. */
  readonly isMistake?: true;
  /** See {@link ApiCall}. */
  readonly unanswered?: readonly Fault[];
}

/**
 * The purpose of a list. dependents: of the targets that are deleted, in its namespace or everywhere. adoptable: what created objects
 * may have adopted, named by namespace and kinds. contents: what is in the target of the change with this index.
 */
export type Finds =
  | { readonly type: "dependents" }
  | { readonly type: "adoptable"; readonly scope: string }
  | { readonly type: "contents"; readonly index: number };

/**
 * Lists objects with owners, in a namespace or everywhere: all kinds that the ServiceAccount may list.
 * `unowned`: also those without owners, except for what the cluster itself creates.
 */
export interface FindOwned {
  readonly purpose: "find-owned";
  readonly namespace?: string;
  /** Restricts the search to these kinds, named as in {@link Found.unlisted}. */
  readonly only?: readonly string[];
  readonly unowned?: true;
  readonly finds: Finds;
  /** See {@link ApiCall}. */
  readonly unanswered?: readonly Fault[];
}

/** What is to be explained: an object, by its kind and name, that does not meet its gates, and what they say of it. */
export interface Unexplained {
  readonly object: KubeObject;
  readonly said: string;
}

/** Lists the Pods that a selector has in a namespace: some of them where there are many, none where they may not be listed. */
export interface FindPods {
  readonly purpose: "find-pods";
  /** The change that it is for, for logs. */
  readonly item: number;
  readonly namespace: string;
  readonly labelSelector: string;
  readonly explains: Unexplained;
  /** As that of {@link ApiCall}. */
  readonly unanswered?: readonly Fault[];
}

/** A claim, which may wait for its first Pod alone: then it counts as ready. */
export interface UnexplainedClaim extends Unexplained {
  readonly type: "claim";
  readonly mayAwaitConsumer: boolean;
  /** Whether messages must not quote its Events, which quote the claim. */
  readonly conceals: boolean;
}

/** A workload, by its Pod of this name, which does not say itself what is wrong with it. */
export interface UnexplainedPod extends Unexplained {
  readonly type: "pod";
  readonly pod: string;
  /** The message if no Event says more. */
  readonly otherwise: string;
}

/** Lists the Events of an object: some of them where there are many; undefined where they may not be listed. */
export interface FindEvents {
  readonly purpose: "find-events";
  /** As that of {@link FindPods}. */
  readonly item: number;
  readonly namespace: string;
  /** The uid of the object. */
  readonly uid: string;
  readonly explains: UnexplainedClaim | UnexplainedPod;
  /** As that of {@link ApiCall}. */
  readonly unanswered?: readonly Fault[];
}

export interface Found {
  readonly owned: readonly Owned[];
  readonly unlisted: readonly Unlisted[];
}

/** The next thing to do. */
export type Step =
  /** Concurrently; then decide again. */
  | {
      readonly type: "run";
      readonly effects: readonly Effect[];
      readonly events?: readonly EventSpec[];
      /** Targets that are watched from now on. Absent: those that are. */
      readonly watched?: readonly Watched[];
    }
  /** Nothing to do before this instant (infinite: ever), unless the Transaction changes. */
  | {
      readonly type: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly events?: readonly EventSpec[];
      readonly awaited?: Awaited;
      readonly watched?: readonly Watched[];
      /** Targets of a Draft that rests: all that was observed is forgotten until one of them changes. */
      readonly rests?: readonly Watched[];
    }
  /** Nothing left to do. */
  | { readonly type: "done" };

export const run = (...effects: readonly Effect[]): Extract<Step, { readonly type: "run" }> => ({
  type: "run",
  effects,
});
export const wait = (
  until: Instant,
  because: string,
  ...events: readonly EventSpec[]
): Extract<Step, { readonly type: "wait" }> => ({
  type: "wait",
  until,
  because,
  events,
});
export const done: Step = { type: "done" };

/** The step of the first of these that has anything to do. They are asked anew each time, from the first one on. */
export const firstStep = <Context, Next = Step>(
  steps: readonly ((context: Context) => Next | undefined)[],
  context: Context,
): Next | undefined => {
  for (const step of steps) {
    const next = step(context);
    if (next !== undefined) return next;
  }
  return undefined;
};

/** A target that a Transaction waits for, as it was when it was last read: it is looked at again as soon as it is another. */
export interface Watched {
  readonly index: number;
  readonly place: ObjectRef;
  /** Absent where there was none. */
  readonly resourceVersion: string | undefined;
}

/** The lock that a Transaction waits for, and the index of its change. */
export interface Awaited {
  readonly index: number;
  readonly lease: ObjectRef;
}
