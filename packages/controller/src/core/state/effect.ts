import type { Either } from "fp-ts/lib/Either.js";
import type { Instant } from "../kubernetes/time.ts";
import type { Observations } from "./observations.ts";
import type { ObjectRef, Version } from "../kubernetes/kube-object.ts";
import type { Owned, Unlisted } from "./listings.ts";
import type { ApiError, KubeObject, Resource } from "@janus/types";

/** One request to the API server. Preconditions of update and apply stand in the body's metadata, as Kubernetes has it. */
export type Call =
  | { readonly verb: "get"; readonly place: ObjectRef }
  | { readonly verb: "create"; readonly place: ObjectRef; readonly body: object; readonly manager: string }
  | { readonly verb: "update"; readonly place: ObjectRef; readonly body: object; readonly manager: string }
  | { readonly verb: "apply"; readonly place: ObjectRef; readonly body: object; readonly manager: string }
  | { readonly verb: "mergePatch"; readonly place: ObjectRef; readonly body: object; readonly subresource?: "status" }
  | { readonly verb: "delete"; readonly place: ObjectRef; readonly preconditions: Partial<Version> };

/** What a request is for: the label of metrics, logs and crash tests. */
export type Purpose =
  | "finalizer"
  | "annotate"
  | "record"
  | "expire"
  | "report-unreadable"
  | "read-service-account"
  | "read-namespace"
  | "read-target"
  | "review"
  | "dry-run"
  | "change"
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

/** An event on the Transaction, told when its effect has succeeded. */
export interface EventSpec {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The change that it is about, for logs. */
  readonly item?: number;
}

/**
 * One request, and how its answer is understood. `onAnswer` folds the answer into what is known by the time it comes (other
 * effects may have been answered meanwhile); it never sees a transient fault: for those there is `lost`, and the
 * Transaction is decided on anew after a pause.
 */
export type Effect = ApiCall | Discover | FindOwned;

export interface ApiCall {
  readonly purpose: Purpose;
  /** Targets are read and written as the Transaction's ServiceAccount, everything else as the controller. */
  readonly as: "controller" | "serviceAccount";
  readonly call: Call;
  readonly dryRun?: true;
  /** An earlier change brings the kind: that it is not served (yet) is an answer, where otherwise it is trouble. */
  readonly mayBeUnserved?: boolean;
  /** The change that it is for, for logs. */
  readonly item?: number;
  readonly onAnswer: (
    known: Observations,
    answer: Either<ApiError, KubeObject>,
    now: Instant,
    sent: Instant,
  ) => Observations;
  /**
   * It has to be done, whatever is answered: `onAnswer` sees only that it is, or that there is nothing to do it to; after
   * anything else, which `lost` hears of, it is tried again.
   * unless-refused: `onAnswer` sees a refusal for good, too.
   * unless-denied: `onAnswer` sees that the controller lacks the permission, too.
   */
  readonly untilDone?: true | "unless-refused" | "unless-denied";
  /** What is not known any more when no answer came; default: nothing changes. */
  readonly onTransientFault?: (known: Observations, fault: ApiError, now: Instant) => Observations;
  readonly events?: readonly EventSpec[];
}

/** Where a kind is served; `undefined` where it is not served at all. */
export interface Discover {
  readonly purpose: "discover";
  readonly apiVersion: string;
  readonly kind: string;
  readonly onAnswer: (known: Observations, answer: Resource | undefined, now: Instant) => Observations;
  /** As that of {@link ApiCall}. */
  readonly onTransientFault?: (known: Observations, fault: ApiError, now: Instant) => Observations;
}

/**
 * Looks for objects that name owners, in a namespace or everywhere: a list of each kind that the ServiceAccount may list.
 * `unowned`: also for those that name none, but for what the cluster itself makes.
 */
export interface FindOwned {
  readonly purpose: "find-owned";
  readonly namespace?: string;
  /** These kinds alone, as they stand in {@link Found.unlisted}. */
  readonly only?: readonly string[];
  readonly unowned?: true;
  readonly onAnswer: (known: Observations, answer: Found, now: Instant) => Observations;
  /** As that of {@link ApiCall}. */
  readonly onTransientFault?: (known: Observations, fault: ApiError, now: Instant) => Observations;
}

export interface Found {
  readonly owned: readonly Owned[];
  readonly unlisted: readonly Unlisted[];
}

/** What to do next. */
export type Step =
  /** Side by side; then decide again. */
  | { readonly type: "run"; readonly effects: readonly Effect[]; readonly events?: readonly EventSpec[] }
  /** Nothing to do before this instant, unless something is seen to change. */
  | {
      readonly type: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly events?: readonly EventSpec[];
      readonly awaited?: Awaited;
    }
  /** Nothing to do any more. */
  | { readonly type: "done" };

export const run = (...effects: readonly Effect[]): Extract<Step, { readonly type: "run" }> => ({
  type: "run",
  effects,
});
export const wait = (until: Instant, because: string, ...events: readonly EventSpec[]): Step => ({
  type: "wait",
  until,
  because,
  events,
});
export const done: Step = { type: "done" };

/** A lock that a Transaction waits for, and for which of its changes. */
export interface Awaited {
  readonly index: number;
  readonly lease: ObjectRef;
}
