// Runs a Pod to its end, once: makes it, waits for it, and reads its log. What all functions with a Pod of their own do.
import { fromTimestamp, isAbsent, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { show } from "../names.ts";
import { keyOf, type PhaseContext, type PhaseStep, WATCHED } from "../phase-context.ts";
import {
  createArgs,
  createPod,
  hasGate,
  isArgs,
  isGated,
  isOurs,
  type JobPod,
  openGate,
  podRef,
  readArgs,
  readPod,
  restartsOf,
} from "./job-pod.ts";
import { hasRun, namePod, podState } from "./pod-state.ts";

const fail = (message: string): PhaseStep => ({ type: "fail", message });

const isTaken = (answer: E.Either<unknown, unknown>): boolean =>
  E.isLeft(answer) && (answer.left as { readonly code?: number }).code === 409;

const interrupted = (message: string): PhaseStep => ({ type: "fail", message, isInterrupted: true });

/** Fails for a Pod that is gone: a result is recorded before its Pod is deleted, so there is none. */
const gone = (context: PhaseContext, pod: JobPod): PhaseStep =>
  interrupted(`Pod ${show(podRef(context, pod))} disappeared before its result was read`);

const lastLines = ({ tail }: { readonly tail: readonly string[] }): string =>
  tail.length === 0 ? "" : `; last lines: ${tail.join("\n")}`;

/** Decides what is next for the Secret that the Pod waits for. Undefined: it is as it should be, or there is none. */
const argsStep = (context: PhaseContext, pod: JobPod, found: KubeObject): PhaseStep | undefined => {
  const create = createArgs(context, pod, found.metadata.uid ?? "");
  if (create === undefined) return undefined;
  const made = context.fact("args");
  if (made === undefined) return { type: "run", effects: [create] };
  if (E.isRight(made)) return undefined;
  const problem = (why: string): PhaseStep => fail(`${namePod(found)}: the Secret with its arguments ${why}`);
  if (!isTaken(made)) return problem(`cannot be made: ${messageOf(made.left)}`);
  const there = context.fact("args-made");
  if (there === undefined) return { type: "run", effects: [readArgs(context, pod)] };
  if (E.isLeft(there)) return problem(`cannot be read: ${messageOf(there.left)}`);
  return isArgs(context, pod, there.right)
    ? undefined
    : problem("exists and is not of this ActionSet: delete it, and run it again");
};

/** Decides what is next once the Pod is there. */
const watching = (context: PhaseContext, pod: JobPod, found: KubeObject): PhaseStep => {
  const { now, settings, log, remembered, seen } = context;
  const { uid = "", resourceVersion, creationTimestamp } = found.metadata;
  if (!isOurs(context, found))
    return fail(`${namePod(found)} exists and is not of this ActionSet: delete it, and run it again`);
  const ref = podRef(context, pod);
  const made = { namespace: pod.namespace, name: ref.name, uid };
  if (remembered["pod"] === undefined) return { type: "remember", remembered: { ...remembered, pod: made } };
  if ((remembered["pod"] as { readonly uid?: string }).uid !== uid) return gone(context, pod);
  const state = podState(found);
  // Once it may run, its Secret is as it was made, whatever has become of what it was made from.
  const args =
    isGated(found) || (!hasGate(context, pod) && state.type === "waiting") ? argsStep(context, pod, found) : undefined;
  if (args !== undefined) return args;
  if (isGated(found)) return { type: "run", effects: [openGate(context, pod, found)] };

  const follow = {
    phase: keyOf(context),
    as: context.serviceAccount,
    namespace: pod.namespace,
    pod: ref.name,
    container: pod.containers[0].name,
    isOver: state.type === "succeeded" || state.type === "failed",
  };
  const watched = [{ ref, resourceVersion }];
  const shown = namePod(found);
  // The Pod may have been made late.
  const deadline = Math.max(context.startedAt, fromTimestamp(creationTimestamp) ?? 0) + settings.podReadyTimeout;
  switch (state.type) {
    case "waiting":
      return state.isFinal || now >= deadline
        ? fail(`${shown} does not run: ${state.why}`)
        : {
            type: "wait",
            until: deadline,
            because: `${shown} does not run yet: ${state.why}`,
            watched,
          };
    case "running":
      return {
        type: "wait",
        until: Number.POSITIVE_INFINITY,
        because: `${shown} is running`,
        watched,
        follow: [follow],
        seen: { ...seen, ...log.outputs },
      };
    case "succeeded":
    case "failed":
      if (!log.isEnded && (state.type === "succeeded" || hasRun(found, follow.container)))
        return {
          type: "wait",
          until: Number.POSITIVE_INFINITY,
          because: `the log of ${shown} is read`,
          isOver: true,
          watched,
          follow: [follow],
        };
      // The command was killed.
      if (state.type === "failed" && found.metadata.deletionTimestamp !== undefined)
        return interrupted(`${shown} was deleted: ${state.why}${lastLines(log)}`);
      if (state.type === "failed" && !(state.isExit && pod.mayFail === true))
        return fail(`${shown}: ${state.why}${lastLines(log)}`);
      return log.problem === undefined
        ? { type: "end", output: { ...seen, ...log.outputs } }
        : fail(`${shown}: ${log.problem}`);
  }
};

/**
 * Guarantees: the command runs at most once in an attempt, whatever is repeated or late: the Pod has the name of the attempt, and one of
 *             that name is scheduled: that whose uid is in the journal.
 * Errors:     another client has made a Pod of that name, or deleted ours; it may not be made; it does not run in time.
 */
export const runPod = (context: PhaseContext, pod: JobPod): PhaseStep => {
  const restarts = restartsOf(context, pod);
  if (restarts !== undefined)
    return fail(`podOverride: ${restarts} would run the command more than once: leave it out, it is Never`);
  const answer = context.fact(WATCHED);
  const trouble = context.trouble(WATCHED);
  if (answer === undefined) {
    const isMade = context.remembered["pod"] !== undefined;
    const isOverdue = trouble !== undefined && context.now >= context.startedAt + context.settings.podReadyTimeout;
    // The Pod may have been made in spite of the answer.
    return { type: "run", effects: [(isMade || isOverdue ? readPod : createPod)(context, pod)] };
  }
  if (E.isRight(answer)) return watching(context, pod, answer.right);
  const error = answer.left;
  if (isTaken(answer)) return { type: "run", effects: [readPod(context, pod)] };
  if (isAbsent(error) && context.remembered["pod"] !== undefined) return gone(context, pod);
  if (isAbsent(error) && trouble !== undefined)
    return fail(`Pod ${show(podRef(context, pod))} cannot be made: ${messageOf(trouble)}`);
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
