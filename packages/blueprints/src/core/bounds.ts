// The bounds of phases and actions: timeouts, retries and order, as an ActionSet and its Blueprints say them.
import { type Instant, parseDuration } from "@janus/types";
import type { ActionSetSpec } from "../api/action-set.ts";
import type { BlueprintPhase } from "../api/blueprint.ts";

/** The deferPhase of an ActionSet that is deleted has so long, if it does not say itself, in ms. */
export const DEFER_OF_DELETED = 600_000;

const MOST_RETRIES = 100;

/** The most times that a phase which may have been done is done again. */
export const MOST_RERUNS = 10;

const durationProblem = (path: string, text: string | undefined): readonly string[] => {
  const ms = text === undefined ? 1 : parseDuration(text);
  return ms === undefined || ms <= 0 ? [`${path} is no duration such as 90s or 1h30m: "${text ?? ""}"`] : [];
};

const choiceProblem = (path: string, text: string | undefined, choices: readonly string[]): readonly string[] =>
  text === undefined || choices.includes(text) ? [] : [`${path} is ${choices.join(" or ")}, not "${text}"`];

/** Says what is wrong with the bounds of a phase. */
export const boundProblems = ({ timeout, retry, onInterrupted }: BlueprintPhase): readonly string[] => {
  const { limit = 0, backoff, maxBackoff } = retry ?? {};
  return [
    ...durationProblem("timeout", timeout),
    ...durationProblem("retry.backoff", backoff),
    ...durationProblem("retry.maxBackoff", maxBackoff),
    ...(limit < 0 || limit > MOST_RETRIES ? [`retry.limit is between 0 and ${MOST_RETRIES}, not ${limit}`] : []),
    ...choiceProblem("onInterrupted", onInterrupted, ["Fail", "Rerun"]),
  ];
};

/** Says what is wrong with the bounds of an ActionSet. */
export const specProblems = ({ executionMode, timeout }: ActionSetSpec): readonly string[] => [
  ...choiceProblem("spec.executionMode", executionMode, ["Parallel", "Sequential"]),
  ...durationProblem("spec.timeout", timeout),
];

/** Returns the timeout in ms; undefined: no bound. */
export const timeoutOf = ({ timeout }: { readonly timeout?: string | undefined }): number | undefined =>
  timeout === undefined ? undefined : parseDuration(timeout);

/**
 * Returns when a phase that has failed is executed again; undefined: it is not.
 *
 * @param attempt the one that has failed, from 1; isRerun: nobody knows what it has done, and then the phase is done again
 */
export const retryAt = (
  { retry }: BlueprintPhase,
  attempt: number,
  isRerun: boolean,
  now: Instant,
): Instant | undefined => {
  const { limit = 0, backoff = "10s", maxBackoff = "5m" } = retry ?? {};
  if (attempt > Math.max(limit, isRerun ? MOST_RERUNS : 0)) return undefined;
  const pause = (parseDuration(backoff) ?? 0) * 2 ** Math.min(attempt - 1, 30);
  return now + Math.min(pause, parseDuration(maxBackoff) ?? 0);
};
