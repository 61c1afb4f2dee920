import * as E from "fp-ts/lib/Either.js";
import { decodeTransaction, type Transaction } from "@janus/api";
import {
  atRest,
  type KubeObject,
  nobodyElse,
  noObservations,
  type ReconcileContext,
  transactionController,
} from "@janus/controller";
import { OWN, SETTINGS } from "./scenario.ts";
import type { Budget, State } from "./state.ts";

/** What may happen next, as a reader would tell it. */
export interface Next {
  readonly state: State;
  readonly story: readonly string[];
}

export interface Rules {
  /** Whether the API server refuses writes to targets of a term that is over. */
  readonly fence: boolean;
  /** Whether a new process may also come late: when spec.timeout has passed. */
  readonly lateTakeover: boolean;
  /** How often a Failed Transaction is watched being tried again. */
  readonly recoveries: number;
  /** Whether a process that waits lets go of its targets, as it does where they are large. Default: it does not. */
  readonly letsGo?: true;
}

const decoded = new WeakMap<KubeObject, Transaction>();
export const transactionOf = (object: KubeObject): Transaction => {
  const known = decoded.get(object);
  if (known !== undefined) return known;
  const result = decodeTransaction(object);
  if (E.isLeft(result)) throw new Error(`the core wrote a status that does not decode: ${result.left}`);
  decoded.set(object, result.right);
  return result.right;
};

export const situationOf = ({ own, known, now }: State): ReconcileContext => ({
  txn: transactionOf(own),
  known,
  now,
  settings: SETTINGS,
  queuedBefore: () => undefined,
  nextWaiter: () => undefined,
});

export type Sort = Exclude<keyof Budget, "all">;

export const spent = (state: State, ...sorts: readonly Sort[]): State | undefined => {
  const left = { ...state.left };
  for (const sort of sorts) {
    if (left[sort] === 0 || left.all === 0) return undefined;
    left[sort] -= 1;
    left.all -= 1;
  }
  return { ...state, left };
};

/** Time passes, and what was under way for too long is no more. */
export const later = (state: State, now: number): State => ({
  ...state,
  now,
  flights: state.flights.filter(({ until }) => until > now),
});

/** What a process that waits, or was not answered, still knows. */
export const rested = (state: State, rules: Rules): State =>
  rules.letsGo ? { ...state, known: atRest(situationOf(state), 0).known } : state;

const { refresh } = transactionController(SETTINGS, () => nobodyElse);

/** The shell reads the Transaction at the beginning of every round. Deleted, or in another phase, it is taken up anew. */
export const reread = (state: State): State => {
  const own = state.world.objects.get(OWN) ?? state.own;
  const isSame = refresh({ txn: transactionOf(state.own), known: state.known }, own) !== undefined;
  return isSame ? { ...state, own } : { ...state, own, known: noObservations(state.now) };
};
