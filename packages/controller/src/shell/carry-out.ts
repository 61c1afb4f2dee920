import type { Api, ApiError, Discovery, KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type Ask, type Effect, meaning, unhindered, written } from "../core/index.ts";
import { type Cell, understood } from "./cell.ts";
import { now } from "./clock.ts";
import type { Narrator, Round } from "./narrator.ts";
import { ask, lookUp } from "./perform.ts";
import { beating } from "./watchdog.ts";

/** What did not get through, and why. */
export interface Failure {
  readonly effect: Effect;
  readonly error: ApiError;
}

/** learned: its answer is folded in. stale: somebody else has written the Transaction meanwhile. */
export type Outcome = "learned" | "stale" | Failure;

export const isFailure = (outcome: Outcome): outcome is Failure => typeof outcome === "object";

/** Whether the effect writes the Transaction itself. */
export const isOwn = ({ purpose }: Ask): boolean => purpose === "record" || purpose === "finalizer";

export interface Carrier {
  readonly api: Api;
  readonly discovery: Discovery;
  readonly narrator: Narrator;
  /** It is in another phase now. */
  readonly moves: (cell: Cell) => void;
  /** It has released a lock, or looked for one in vain: nobody holds that Lease. */
  readonly seesFree: (cell: Cell, effect: Ask) => void;
}

/** Requests of one Transaction that go out side by side at most. */
const SIDE_BY_SIDE = 16;

/**
 * Carries out effects side by side, a bounded number at a time, in order. When one does not get through, no more are begun.
 *
 * Guarantees: what was answered is folded into what is known before this returns.
 */
export const carrier = ({ api, discovery, narrator, moves, seesFree }: Carrier) => {
  const { tell, answered, moved } = narrator;

  /** The answer of a write to the Transaction itself is its newest version. */
  const adopt = (round: Round, cell: Cell, object: KubeObject): void => {
    const former = cell.txn;
    Object.assign(cell, understood(object));
    if (former.status.phase === cell.txn.status.phase) return;
    cell.known = unhindered(cell.known);
    moves(cell);
    moved(round, former, cell.txn);
  };

  const perform = async (round: Round, cell: Cell, effect: Effect): Promise<Outcome> => {
    const sent = now();
    const { txn } = cell;
    if (!("call" in effect)) {
      const found = await lookUp(beating(api, round.beat), discovery, txn, effect);
      answered(round, txn, effect, sent, E.isLeft(found) ? found.left : undefined);
      if (E.isLeft(found)) return { effect, error: found.left };
      cell.known = found.right(cell.known, now());
      return "learned";
    }
    const answer = cell.hasVanished && isOwn(effect) ? E.right(written(txn, effect)) : await ask(api, txn, effect);
    answered(round, txn, effect, sent, E.isLeft(answer) ? answer.left : undefined);
    if (E.isLeft(answer) && meaning(answer.left) === "transient") {
      cell.known = effect.lost?.(cell.known, answer.left, now()) ?? cell.known;
      return { effect, error: answer.left };
    }
    if (isOwn(effect) && E.isLeft(answer))
      return meaning(answer.left) === "conflict" ? "stale" : { effect, error: answer.left };
    if (isOwn(effect) && E.isRight(answer)) adopt(round, cell, answer.right);
    cell.known = effect.learn(cell.known, answer, now(), sent);
    const lock = effect.item === undefined ? undefined : cell.known.locks.get(effect.item);
    if (lock?.at === "free") seesFree(cell, effect);
    if (E.isRight(answer)) for (const telling of effect.tell ?? []) tell(round, cell.txn, telling);
    return "learned";
  };

  return async (round: Round, cell: Cell, effects: readonly Effect[]): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    const left = effects.values();
    const lane = async (): Promise<void> => {
      for (const effect of left) {
        outcomes.push(await perform(round, cell, effect));
        if (outcomes.some(isFailure)) return;
      }
    };
    await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, effects.length) }, lane));
    return outcomes;
  };
};
