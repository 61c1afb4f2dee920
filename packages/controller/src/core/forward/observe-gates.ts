// Folds what is read of targets that have gates, and of what explains their state, into the observations.
import { type Instant, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describeEvent, latestEvent, warningsIn } from "../gates/events.ts";
import { awaitsConsumer } from "../gates/persistent-volume-claim.ts";
import { explain, sayOf } from "../gates/pods.ts";
import { finishedJob } from "../kubernetes/finished-job.ts";
import type { FindEvents, FindPods, UnexplainedClaim, UnexplainedPod } from "../state/effect.ts";
import type { GateFault, GateFold } from "../state/fold.ts";
import type { Faults, Folds } from "../state/folding.ts";
import { changeIn, type Observations, withGate } from "../state/observations.ts";
import { type Explanation, stillUnanswered } from "../state/target-observations.ts";
import { judge } from "./judge-gates.ts";

export const gateFolds: Folds<GateFold> = {
  "gate-unreadable": (known, _, { effect: { item: index = -1 }, answer }) =>
    withGate(known, index, E.isRight(answer) ? { unanswered: undefined } : { unreadable: messageOf(answer.left) }),
  "gates-judged": (known, { gated }, { sent }) => {
    const { target, gate } = changeIn(known, gated.index);
    // Of a read that was refused, there is at most a former one.
    if (target?.at !== sent) return known;
    const finished = target.object === undefined ? undefined : finishedJob(target.object);
    return withGate(known, gated.index, {
      judged: judge(gated, target, gate),
      ...(finished === undefined ? {} : { finished }),
    });
  },
};

export const gateFaults: Faults<GateFault> = {
  "gate-unanswered": (known, { index }, { error, at }) =>
    withGate(known, index, { unanswered: stillUnanswered(changeIn(known, index).gate?.unanswered, error, at) }),
};

/** Explains a workload by its Pods. */
export const observePods = (
  known: Observations,
  { item, explains: { object, said } }: FindPods,
  pods: readonly KubeObject[],
  at: Instant,
): Observations => withGate(known, item, { explained: { at, ...explain(object, said, pods) } });

/** Explains by a Pod that does not say itself what is wrong with it. */
const explainByPod = (
  { object, said, otherwise, pod }: UnexplainedPod,
  events: readonly KubeObject[] = [],
): Omit<Explanation, "at"> => {
  const last = latestEvent(warningsIn(events));
  return { message: last === undefined ? otherwise : sayOf(object, said, `${describeEvent(last)}, Pod ${pod}`) };
};

/** Explains a claim by its Events, which quote it. */
const explainClaim = (
  { object, said, mayAwaitConsumer, conceals }: UnexplainedClaim,
  events: readonly KubeObject[] | undefined,
): Omit<Explanation, "at"> => {
  if (events === undefined)
    return { message: sayOf(object, `${said}; grant the ServiceAccount the verb list on events to know why`) };
  if (mayAwaitConsumer && awaitsConsumer(events)) return { message: "", isReady: true };
  const last = conceals ? undefined : latestEvent(events);
  return { message: sayOf(object, said, last === undefined ? undefined : describeEvent(last)) };
};

/** Explains a claim, or a Pod of a workload, by its Events. */
export const observeEvents = (
  known: Observations,
  { item, explains }: FindEvents,
  events: readonly KubeObject[] | undefined,
  at: Instant,
): Observations => {
  const explained = explains.type === "claim" ? explainClaim(explains, events) : explainByPod(explains, events);
  return withGate(known, item, { explained: { at, ...explained } });
};
