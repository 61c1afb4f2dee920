// Folds the answer to an effect into the observations, as the shell does.
import type { Transaction } from "@janus/api";
import { type Memory, observe, type Observed } from "../../../packages/controller/src/core/observe.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { Finding, LookUp } from "../../../packages/controller/src/core/state/happened.ts";
import type { Observations } from "../../../packages/controller/src/core/state/observations.ts";
import { NOW, settings } from "./arbitrary-situation.ts";
import type { ApiError } from "@janus/types";
import type { Answer } from "./underway.ts";

interface At {
  readonly txn: Transaction;
  readonly known: Observations;
}

type Heard = Memory & Omit<Observed, "memory">;

/** What is known after this answer, and whether the request failed. */
export const heard = ({ txn, known }: At, effect: ApiCall, answer: Answer, at = NOW, sent = at): Heard => {
  const { memory, ...rest } = observe({ txn, known }, { type: "answered", effect, answer, at, sent }, settings);
  return { ...memory, ...rest };
};

/** What is known after this answer. */
export const learn = (at: At, effect: ApiCall, answer: Answer, now = NOW, sent = now): Observations =>
  heard(at, effect, answer, now, sent).known;

/** What is known after a lookup. */
export const found = ({ txn, known }: At, finding: Finding, at = NOW): Observations =>
  observe({ txn, known }, { type: "found", ...finding, at }, settings).memory.known;

/** What is known after a lookup that failed. */
export const unanswered = ({ txn, known }: At, effect: LookUp, error: ApiError, at = NOW): Observations =>
  observe({ txn, known }, { type: "lookup-failed", effect, error, at }, settings).memory.known;
