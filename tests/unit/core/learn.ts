// Folds the answer to an effect into the observations, as the shell does.
import type { Transaction } from "@janus/api";
import { observe } from "../../../packages/controller/src/core/observe.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { Observed } from "../../../packages/controller/src/core/state/handle-answer.ts";
import type { Finding, LookUp } from "../../../packages/controller/src/core/state/happened.ts";
import type { Observations } from "../../../packages/controller/src/core/state/observations.ts";
import { NOW, settings } from "./arbitrary-situation.ts";
import type { ApiError } from "@janus/types";
import type { Answer } from "./underway.ts";

interface At {
  readonly txn: Transaction;
  readonly known: Observations;
}

/** What is known after this answer, and whether the request failed. */
export const heard = ({ txn, known }: At, effect: ApiCall, answer: Answer, at = NOW, sent = at): Observed =>
  observe(known, { type: "answered", effect, answer, at, sent }, { txn, settings });

/** What is known after this answer. */
export const learn = (at: At, effect: ApiCall, answer: Answer, now = NOW, sent = now): Observations =>
  heard(at, effect, answer, now, sent).known;

/** What is known after a lookup. */
export const found = ({ txn, known }: At, finding: Finding, at = NOW): Observations =>
  observe(known, { type: "found", ...finding, at }, { txn, settings }).known;

/** What is known after a lookup that failed. */
export const unanswered = ({ txn, known }: At, effect: LookUp, error: ApiError, at = NOW): Observations =>
  observe(known, { type: "unanswered", effect, error, at }, { txn, settings }).known;
