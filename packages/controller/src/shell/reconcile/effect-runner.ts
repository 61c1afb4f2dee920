// Runs one effect, and folds its response into the observations.
import type { Api, ApiError, Discovery } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { inLanes, elapsed, withHeartbeat } from "@janus/runtime";
import {
  afterWrite,
  type ApiCall,
  changeIn,
  type Effect,
  type Happened,
  hasLargeTarget,
  isDraft,
  isOwn,
  observe,
  type Settings,
} from "../../core/index.ts";
import { classify } from "@janus/types";
import { PER_TRANSACTION } from "../limits.ts";
import type { TrackedTransaction } from "./tracked-transaction.ts";
import type { Telemetry, Round } from "../telemetry/telemetry.ts";
import { sendRequest, lookUp } from "./api-request.ts";

/** An effect that failed, and why. */
export interface Failure {
  readonly effect: Effect;
  readonly error: ApiError;
}

/** observed: its response is folded in. stale: another client has written the Transaction meanwhile. */
export type Outcome = "observed" | "stale" | Failure;

export const isFailure = (outcome: Outcome): outcome is Failure => typeof outcome === "object";

export interface EffectRunnerOptions {
  /** The API server, for the Transactions of a namespace. */
  readonly apiOf: (namespace: string) => Api;
  /** The same for its Drafts. */
  readonly draftsApiOf: (namespace: string) => Api;
  readonly discovery: Discovery;
  readonly settings: Settings;
  readonly telemetry: Telemetry;
  /** Its phase has changed. */
  readonly onPhaseChange: (tracked: TrackedTransaction) => void;
  /** It has released a lock, or found none: the Lease has no holder. */
  readonly onLockFree: (tracked: TrackedTransaction, effect: ApiCall) => void;
}

/** After a transient error no further requests are sent; a permanent one concerns its request alone. */
const isOverload = (outcome: Outcome): boolean => isFailure(outcome) && classify(outcome.error) === "transient";

/**
 * Runs effects concurrently, a bounded number at a time, in order. After a transient error no more are started. While a large
 * target is in memory, it is one at a time: the API server, which is shared with others, was busy with two of them for so long
 * that small Transactions took four times as long.
 *
 * Guarantees: every response is folded into the observations before this returns. Once it `isOver`, no further effect is started,
 *             but each is of those that have started, and one has.
 */
export const effectRunner = (options: EffectRunnerOptions) => {
  const { apiOf, draftsApiOf, discovery, settings, telemetry, onPhaseChange, onLockFree } = options;
  const { recordEvent, answered, moved } = telemetry;

  const fold = (
    round: Round,
    tracked: TrackedTransaction,
    happened: Extract<Happened, { effect: Effect }>,
  ): Outcome => {
    const former = tracked.txn;
    const { failed, isStale, ...memory } = observe(tracked, happened, settings);
    Object.assign(tracked, memory);
    if (former.status.phase !== tracked.txn.status.phase) {
      onPhaseChange(tracked);
      moved(round, former, tracked.txn);
    }
    if (isStale === true) return "stale";
    return failed === undefined ? "observed" : { effect: happened.effect, error: failed };
  };

  const runEffect = async (round: Round, tracked: TrackedTransaction, effect: Effect): Promise<Outcome> => {
    const [sent, began] = [tracked.now(), elapsed()];
    const { txn } = tracked;
    const { namespace } = txn.metadata;
    const api = (isDraft(txn) ? draftsApiOf : apiOf)(namespace);
    if (!("call" in effect)) {
      const found = await lookUp(withHeartbeat(api, round.heartbeat), discovery, txn, effect);
      answered(round, txn, effect, began, E.isLeft(found) ? found.left : undefined);
      const at = tracked.now();
      return fold(
        round,
        tracked,
        E.isLeft(found) ? { type: "unanswered", effect, error: found.left, at } : { type: "found", ...found.right, at },
      );
    }
    const answer =
      tracked.isForceDeleted && isOwn(effect)
        ? E.right(afterWrite(txn, effect))
        : await sendRequest(api, txn, effect, settings);
    answered(round, txn, effect, began, E.isLeft(answer) ? answer.left : undefined);
    const outcome = fold(round, tracked, { type: "answered", effect, answer, sent, at: tracked.now() });
    if (outcome !== "observed") return outcome;
    const lock = effect.item === undefined ? undefined : changeIn(tracked.known, effect.item).lock;
    if (lock?.type === "free") onLockFree(tracked, effect);
    if (E.isRight(answer)) for (const event of effect.events ?? []) recordEvent(round, tracked.txn, event);
    return "observed";
  };

  return async (
    round: Round,
    tracked: TrackedTransaction,
    effects: readonly Effect[],
    isOver: () => boolean = () => false,
  ): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    await inLanes(effects.values(), hasLargeTarget(tracked.known) ? 1 : PER_TRANSACTION, async (effect) => {
      outcomes.push(await runEffect(round, tracked, effect));
      return !outcomes.some(isOverload) && !isOver();
    });
    return outcomes;
  };
};
