// Runs a Pod to its end, once: makes it, waits for it, and reads its log. What all functions with a Pod of their own do.
import { isAbsent, messageOf, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

import { show } from "../names.ts";
import { keyOf, type PhaseContext, type PhaseStep, WATCHED } from "../phase-context.ts";
import { CONTAINER, createArgs, createPod, isOurs, type JobPod, podRef, readPod } from "./job-pod.ts";
import { namePod, podState } from "./pod-state.ts";

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** Its result is recorded before it is deleted, so one that is gone has none. */
const gone = (context: PhaseContext, pod: JobPod): PhaseStep =>
  fail(`Pod ${show(podRef(context, pod))} disappeared before its result was read`);

const lastLines = ({ tail }: { readonly tail: readonly string[] }): string =>
  tail.length === 0 ? "" : `; last lines: ${tail.join("\n")}`;

/** What is next once the Pod is there. */
const watching = (context: PhaseContext, pod: JobPod, found: KubeObject): PhaseStep => {
  const { startedAt, now, settings, log, remembered } = context;
  const { uid = "", resourceVersion } = found.metadata;
  if (!isOurs(context, found)) return fail(`${namePod(found)} exists and is not of this ActionSet`);
  const ref = podRef(context, pod);
  const made = { namespace: pod.namespace, name: ref.name, uid };
  if (remembered["pod"] === undefined) return { type: "remember", remembered: { ...remembered, pod: made } };
  if ((remembered["pod"] as { readonly uid?: string }).uid !== uid) return gone(context, pod);
  const args = createArgs(context, pod, uid);
  const argsAnswer = context.fact("args");
  if (args !== undefined && argsAnswer === undefined) return { type: "run", effects: [args] };
  if (argsAnswer !== undefined && E.isLeft(argsAnswer) && !isTaken(argsAnswer))
    return fail(`${namePod(found)}: the Secret with its arguments cannot be made: ${messageOf(argsAnswer.left)}`);

  const state = podState(found);
  const follow = {
    phase: keyOf(context),
    as: context.serviceAccount,
    namespace: pod.namespace,
    pod: ref.name,
    container: CONTAINER,
    isOver: state.type === "succeeded" || state.type === "failed",
  };
  const watched = { ref, resourceVersion };
  const shown = namePod(found);
  const isOverdue = now >= startedAt + settings.podReadyTimeout;
  switch (state.type) {
    case "waiting":
      return state.isFinal || isOverdue
        ? fail(`${shown} does not run: ${state.why}`)
        : {
            type: "wait",
            until: startedAt + settings.podReadyTimeout,
            because: `${shown} does not run yet: ${state.why}`,
            watched,
          };
    case "running":
      return { type: "wait", until: Number.POSITIVE_INFINITY, because: `${shown} is running`, watched, follow };
    case "succeeded":
    case "failed":
      if (!log.isEnded)
        return {
          type: "wait",
          until: Number.POSITIVE_INFINITY,
          because: `the log of ${shown} is read`,
          watched,
          follow,
        };
      if (state.type === "failed") return fail(`${shown}: ${state.why}${lastLines(log)}`);
      return log.problem === undefined ? { type: "end", output: log.outputs } : fail(`${shown}: ${log.problem}`);
  }
};

const isTaken = (answer: E.Either<unknown, unknown>): boolean =>
  E.isLeft(answer) && (answer.left as { readonly code?: number }).code === 409;

/**
 * Guarantees: the Pod is made once in an attempt, whatever is repeated: its name is that of the attempt.
 * Errors:     another client has made a Pod of that name, or deleted ours; it may not be made; it does not run in time.
 */
export const runPod = (context: PhaseContext, pod: JobPod): PhaseStep => {
  const answer = context.fact(WATCHED);
  if (answer === undefined) {
    const isMade = context.remembered["pod"] !== undefined;
    const trouble = context.trouble(WATCHED);
    if (!isMade && trouble !== undefined && context.now >= context.startedAt + context.settings.podReadyTimeout)
      return fail(`Pod ${show(podRef(context, pod))} cannot be made: ${messageOf(trouble)}`);
    return { type: "run", effects: [(isMade ? readPod : createPod)(context, pod)] };
  }
  if (E.isRight(answer)) return watching(context, pod, answer.right);
  const error = answer.left;
  if (isTaken(answer)) return { type: "run", effects: [readPod(context, pod)] };
  if (isAbsent(error) && context.remembered["pod"] !== undefined) return gone(context, pod);
  return fail(`Pod ${show(podRef(context, pod))} cannot be run: ${messageOf(error)}`);
};

/** Finds the Pod that it may have made, so that it is deleted; makes none. */
export const stopPod = (context: PhaseContext, pod: JobPod): PhaseStep => {
  const { remembered, fact } = context;
  const answer = fact(WATCHED);
  const stopped = fail("the ActionSet was deleted");
  if (remembered["pod"] !== undefined) return stopped;
  if (answer === undefined || isTaken(answer)) return { type: "run", effects: [readPod(context, pod)] };
  if (E.isLeft(answer) || !isOurs(context, answer.right)) return stopped;
  const { name, namespace = "" } = podRef(context, pod);
  return {
    type: "remember",
    remembered: { ...remembered, pod: { namespace, name, uid: answer.right.metadata.uid ?? "" } },
  };
};
