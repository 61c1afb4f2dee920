// The events that are folded into the observations of a Transaction.
import type { Transaction } from "@janus/api";
import type { ApiError, Instant, KubeObject, Resource } from "@janus/types";
import type { Either } from "fp-ts/lib/Either.js";
import type { ApiCall, Awaited, Discover, Effect, FindEvents, FindOwned, FindPods, Found } from "./effect.ts";
import type { ServedKind } from "./observations.ts";
import type { Settings } from "./reconcile-context.ts";

/** An effect that takes more than one request. */
export type LookUp = Exclude<Effect, ApiCall>;

/** A request of an effect has been answered, by the API server or by what is between. */
export interface Answered {
  readonly type: "answered";
  readonly effect: ApiCall;
  readonly answer: Either<ApiError, KubeObject>;
  readonly sent: Instant;
  readonly at: Instant;
}

/** An effect without an answer that says anything. */
export interface Missed {
  readonly effect: Effect;
  readonly error: ApiError;
  readonly at: Instant;
}

/** Where a kind is served; or else where one of this name, or like it, is, if the effect asks for that. */
export type Discovered =
  | { readonly resource: Resource; readonly others?: undefined }
  | { readonly resource?: undefined; readonly others: readonly ServedKind[] };

/** What a lookup has found. */
export type Finding =
  | { readonly effect: Discover; readonly found: Discovered }
  | { readonly effect: FindOwned; readonly found: Found }
  | { readonly effect: FindPods; readonly found: readonly KubeObject[] }
  | { readonly effect: FindEvents; readonly found: readonly KubeObject[] | undefined };

/** A watch, another Transaction and an answer are the same to the core: something that happened. */
export type Happened =
  | Answered
  | ({ readonly type: "found"; readonly at: Instant } & Finding)
  /** A lookup has failed. */
  | ({ readonly type: "lookup-failed"; readonly effect: LookUp } & Missed)
  /** A watched target has changed; `finished`: the Job as it was when it had finished. */
  | {
      readonly type: "changed";
      readonly index: number;
      readonly finished?: KubeObject | undefined;
      readonly at: Instant;
    }
  /** A target of a resting Draft has changed since it was rendered. */
  | { readonly type: "render-outdated" }
  /** The lock that is waited for has no holder any more. */
  | { readonly type: "freed"; readonly awaited: Awaited }
  /** A request has failed: what is next is decided after a pause. */
  | { readonly type: "pausing"; readonly at: Instant }
  /** An event tells that requests fail. */
  | { readonly type: "reported"; readonly at: Instant }
  /** Nothing failed: it waits for something else. */
  | { readonly type: "waiting" };

/** The Transaction as it is when something happens. */
export interface About {
  readonly txn: Transaction;
  readonly settings: Settings;
}
