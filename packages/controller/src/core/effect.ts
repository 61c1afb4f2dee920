import type { Either } from "fp-ts/lib/Either.js";
import type { Fault } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { Owned } from "./dependents.ts";
import type { Known } from "./known.ts";
import type { Awaited } from "./line.ts";
import type { KubeObject, Place, Resource, Version } from "./object.ts";
import type { Unlisted } from "./unlisted.ts";

/** One request to the API server. Preconditions of update and apply stand in the body's metadata, as Kubernetes has it. */
export type Call =
  | { readonly verb: "get"; readonly place: Place }
  | { readonly verb: "create"; readonly place: Place; readonly body: object; readonly manager: string }
  | { readonly verb: "update"; readonly place: Place; readonly body: object; readonly manager: string }
  | { readonly verb: "apply"; readonly place: Place; readonly body: object; readonly manager: string }
  | { readonly verb: "mergePatch"; readonly place: Place; readonly body: object; readonly subresource?: "status" }
  | { readonly verb: "delete"; readonly place: Place; readonly preconditions: Partial<Version> };

/** What a request is for: the label of metrics, logs and crash tests. */
export type Purpose =
  | "finalizer"
  | "record"
  | "expire"
  | "complain"
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
  | "ask-way"
  | "renew-lock"
  | "release-lock"
  | "store"
  | "read-store"
  | "release-store"
  | "journal"
  | "read-journal"
  | "checkpoint";

/** An event on the Transaction, told when its effect has succeeded. */
export interface Telling {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The change that it is about, for logs. */
  readonly item?: number;
}

/**
 * One request, and how its answer is understood. `learn` folds the answer into what is known by the time it comes (other
 * effects may have been answered meanwhile); it never sees a transient fault: for those there is `lost`, and the
 * Transaction is decided on anew after a pause.
 */
export type Effect = Ask | Discover | FindOwned;

export interface Ask {
  readonly purpose: Purpose;
  /** Targets are read and written as the Transaction's ServiceAccount, everything else as the controller. */
  readonly as: "controller" | "serviceAccount";
  readonly call: Call;
  readonly dryRun?: true;
  /** An earlier change brings the kind: that it is not served (yet) is an answer, where otherwise it is trouble. */
  readonly mayBeUnserved?: boolean;
  /** The change that it is for, for logs. */
  readonly item?: number;
  readonly learn: (known: Known, answer: Either<Fault, KubeObject>, now: Instant, sent: Instant) => Known;
  /**
   * It has to be done, whatever is answered: `learn` sees only that it is, or that there is nothing to do it to; after
   * anything else, which `lost` hears of, it is tried again.
   * unless-refused: `learn` sees a refusal for good, too.
   * unless-denied: `learn` sees that the controller lacks the permission, too.
   */
  readonly untilDone?: true | "unless-refused" | "unless-denied";
  /** What is not known any more when no answer came; default: nothing changes. */
  readonly lost?: (known: Known, fault: Fault, now: Instant) => Known;
  readonly tell?: readonly Telling[];
}

/** Where a kind is served; `undefined` where it is not served at all. */
export interface Discover {
  readonly purpose: "discover";
  readonly apiVersion: string;
  readonly kind: string;
  readonly learn: (known: Known, answer: Resource | undefined, now: Instant) => Known;
  /** As that of {@link Ask}. */
  readonly lost?: (known: Known, fault: Fault, now: Instant) => Known;
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
  readonly learn: (known: Known, answer: Found, now: Instant) => Known;
  /** As that of {@link Ask}. */
  readonly lost?: (known: Known, fault: Fault, now: Instant) => Known;
}

export interface Found {
  readonly owned: readonly Owned[];
  readonly unlisted: readonly Unlisted[];
}

/** What to do next. */
export type Step =
  /** Side by side; then decide again. */
  | { readonly next: "run"; readonly effects: readonly Effect[]; readonly tell?: readonly Telling[] }
  /** Nothing to do before this instant, unless something is seen to change. */
  | {
      readonly next: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly tell?: readonly Telling[];
      readonly awaited?: Awaited;
    }
  /** Nothing to do any more. */
  | { readonly next: "done" };

export const run = (...effects: readonly Effect[]): Extract<Step, { readonly next: "run" }> => ({
  next: "run",
  effects,
});
export const wait = (until: Instant, because: string, ...tell: readonly Telling[]): Step => ({
  next: "wait",
  until,
  because,
  tell,
});
export const done: Step = { next: "done" };
