import type { Api, ApiError, Discovery, KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import {
  afterWrite,
  type ApiCall,
  changeIn,
  classify,
  type Effect,
  handleAnswer,
  withoutRetry,
} from "../../core/index.ts";
import { type TrackedTransaction, understood } from "./tracked-transaction.ts";
import { elapsed } from "../process/clock.ts";
import type { Telemetry, Round } from "../telemetry/telemetry.ts";
import { ask, lookUp } from "./api-request.ts";
import { beating } from "../process/watchdog.ts";

/** What did not get through, and why. */
export interface Failure {
  readonly effect: Effect;
  readonly error: ApiError;
}

/** learned: its answer is folded in. stale: another client has written the Transaction meanwhile. */
export type Outcome = "learned" | "stale" | Failure;

export const isFailure = (outcome: Outcome): outcome is Failure => typeof outcome === "object";

const OWN: readonly ApiCall["purpose"][] = ["record", "finalizer", "annotate"];

/** Whether the effect writes the Transaction itself. */
export const isOwn = ({ purpose }: ApiCall): boolean => OWN.includes(purpose);

/** Whether it is another client's write to the Transaction that a conflict tells of. */
const writesTransaction = (effect: ApiCall): boolean => isOwn(effect) || effect.purpose === "report-unreadable";

export interface EffectRunnerOptions {
  /** For what is done for the Transactions of a namespace. */
  readonly apiOf: (namespace: string) => Api;
  readonly discovery: Discovery;
  readonly telemetry: Telemetry;
  /** It is in another phase now. */
  readonly onPhaseChange: (tracked: TrackedTransaction) => void;
  /** It has released a lock, or looked for one in vain: nobody holds that Lease. */
  readonly onLockFree: (tracked: TrackedTransaction, effect: ApiCall) => void;
}

/** It may be refused for good; others that are to go out beside it may not. */
const isOverload = (outcome: Outcome): boolean => isFailure(outcome) && classify(outcome.error) === "transient";

/** Requests of one Transaction that go out side by side at most. */
const SIDE_BY_SIDE = 16;

/**
 * Carries out effects side by side, a bounded number at a time, in order. When one is not answered, or the API server
 * has no time for it, no more are begun.
 *
 * Guarantees: what was answered is folded into what is known before this returns.
 */
export const effectRunner = ({ apiOf, discovery, telemetry, onPhaseChange, onLockFree }: EffectRunnerOptions) => {
  const { tell, answered, moved } = telemetry;

  /** The answer of a write to the Transaction itself is its newest version. */
  const adopt = (round: Round, tracked: TrackedTransaction, object: KubeObject): void => {
    const former = tracked.txn;
    Object.assign(tracked, understood(object));
    if (former.status.phase === tracked.txn.status.phase) return;
    tracked.known = withoutRetry(tracked.known);
    onPhaseChange(tracked);
    moved(round, former, tracked.txn);
  };

  const perform = async (round: Round, tracked: TrackedTransaction, effect: Effect): Promise<Outcome> => {
    const [sent, began] = [tracked.now(), elapsed()];
    const { txn } = tracked;
    const api = apiOf(txn.metadata.namespace);
    if (!("call" in effect)) {
      const found = await lookUp(beating(api, round.beat), discovery, txn, effect);
      answered(round, txn, effect, began, E.isLeft(found) ? found.left : undefined);
      if (E.isLeft(found)) {
        tracked.known = effect.onTransientFault?.(tracked.known, found.left, tracked.now()) ?? tracked.known;
        return { effect, error: found.left };
      }
      tracked.known = found.right(tracked.known, tracked.now());
      return "learned";
    }
    const answer =
      tracked.isForceDeleted && isOwn(effect) ? E.right(afterWrite(txn, effect)) : await ask(api, txn, effect);
    answered(round, txn, effect, began, E.isLeft(answer) ? answer.left : undefined);
    if (E.isLeft(answer) && classify(answer.left) === "conflict" && writesTransaction(effect)) return "stale";
    if (E.isLeft(answer) && classify(answer.left) === "permanent" && isOwn(effect))
      return { effect, error: answer.left };
    if (E.isRight(answer) && isOwn(effect)) adopt(round, tracked, answer.right);
    const { known, failed } = handleAnswer(tracked.known, effect, answer, tracked.now(), sent);
    tracked.known = known;
    if (failed !== undefined) return { effect, error: failed };
    const lock = effect.item === undefined ? undefined : changeIn(tracked.known, effect.item).lock;
    if (lock?.type === "free") onLockFree(tracked, effect);
    if (E.isRight(answer)) for (const event of effect.events ?? []) tell(round, tracked.txn, event);
    return "learned";
  };

  return async (round: Round, tracked: TrackedTransaction, effects: readonly Effect[]): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    const left = effects.values();
    const lane = async (): Promise<void> => {
      for (const effect of left) {
        outcomes.push(await perform(round, tracked, effect));
        if (outcomes.some(isOverload)) return;
      }
    };
    await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, effects.length) }, lane));
    return outcomes;
  };
};
