// Reads the targets that have gates, and keeps the state of each gate with an explanation.
import { showGates } from "../gates/gate.ts";
import { sayOf } from "../gates/pods.ts";
import { type Instant } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, Effect, FindEvents, FindPods } from "../state/effect.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { readTarget } from "../state/resolved-changes.ts";
import type { Gated } from "../state/gated.ts";
import { judge, secondsOf } from "./judge-gates.ts";
import {
  type Explanation,
  type GateObservations,
  type JudgedGates,
  type TargetObservation,
  type UnmetGate,
} from "../state/target-observations.ts";

export type GateObservation =
  | { readonly type: "reading"; readonly effects: readonly Effect[] }
  | { readonly type: "met"; readonly resourceVersion: string | undefined }
  | ({
      readonly type: "unmet";
      readonly resourceVersion: string | undefined;
      /** When what is wrong with it is looked at again, beside the target itself. */
      readonly lookAt: Instant;
    } & UnmetGate);

/** Finds what is wrong with its Pods, as far as the ServiceAccount may list them. */
const findPods = ({ index, place }: Gated, labelSelector: string, explains: FindPods["explains"]): FindPods => ({
  purpose: "find-pods",
  item: index,
  namespace: place.namespace ?? "",
  labelSelector,
  explains,
});

const findEvents = ({ index, place }: Gated, uid: string, explains: FindEvents["explains"]): FindEvents => ({
  purpose: "find-events",
  item: index,
  namespace: place.namespace ?? "",
  uid,
  explains,
});

/** So long after a Job has gone, a watch may still tell how it has ended, in ms. */
const WATCH_LAG = 3000;

/** The judgement of the latest read, which was not judged yet if it was made for something else. */
const latest = (
  gated: Gated,
  seen: TargetObservation | undefined,
  gate: GateObservations | undefined,
): JudgedGates | undefined => {
  const judged = gate?.judged;
  return seen === undefined || seen.type === "outline" || (judged !== undefined && judged.at >= seen.at)
    ? judged
    : judge(gated, seen, gate);
};

/** Reads the target, and remembers what that shows of its gates. */
const read = (gated: Gated): ApiCall => {
  const asked = readTarget(gated, { type: "gate-unreadable" });
  return {
    ...asked,
    folds: [...asked.folds, { type: "gates-judged", gated }],
    unanswered: [...(asked.unanswered ?? []), { type: "gate-unanswered", index: gated.index }],
  };
};

/** Intervals, in ms, between looks at what is wrong with a target, each twice as long as the last: it may not change itself. */
const LOOK = { first: 1000, most: 60_000 };

/** When it is looked at again, having been looked at then. */
const nextLook = (since: Instant, at: Instant): Instant => at + Math.min(Math.max(at - since, LOOK.first), LOOK.most);

/** The request that finds out more of what is wrong; undefined: that is known, as of then. */
const explaining = (
  gated: Gated,
  { at, unmet, explainable }: JudgedGates,
  explained: Explanation | undefined,
  isDue: boolean,
): Effect | undefined => {
  if (unmet === undefined || explainable === undefined || explainable.by.type === "itself") return undefined;
  const { object, by } = explainable;
  const said = unmet.state.message;
  if (explained === undefined || explained.at < at || isDue) {
    if (by.type === "pods") return findPods(gated, by.labelSelector, { object, said });
    const mayAwaitConsumer = by.isUnscheduled && isOnlyReady(gated);
    return findEvents(gated, by.uid, { type: "claim", object, said, mayAwaitConsumer, conceals: gated.conceals });
  }
  const { pod, message } = explained;
  return pod === undefined
    ? undefined
    : findEvents(gated, pod.uid, { type: "pod", object, said, otherwise: message, pod: pod.name });
};

const isOnlyReady = ({ gates }: Gated): boolean => gates.every(({ type }) => type === "ready");

const unmetBecause = (
  unmet: UnmetGate,
  message: string,
  resourceVersion?: string,
  lookAt = Number.POSITIVE_INFINITY,
): GateObservation => ({ type: "unmet", resourceVersion, lookAt, ...unmet, state: { ...unmet.state, message } });

/**
 * How far a target is, by a live read that is not older than `since`, nor than the last change that a watch reported.
 *
 * Guarantees: of each read, the gates are evaluated once; what is said of a workload names its newest Pod that something is wrong
 *             with, and is looked at again after growing pauses. A Job that was seen complete is, though it has deleted itself.
 */
export const observeGates = (gated: Gated, known: Observations, since: Instant, now: Instant): GateObservation => {
  const { index, place } = gated;
  const { target: seen, gate } = changeIn(known, index);
  const refused = gate?.unreadable;
  if (refused !== undefined) {
    const message = `${formatRef(place)} cannot be read: ${refused}`;
    const shown = showGates(gated.gates, gated.conceals);
    return unmetBecause({ gate: shown, final: "unreadable", state: { type: "failed", message } }, message);
  }
  const judged = latest(gated, seen, gate);
  if (judged === undefined || judged.at < since || judged.at <= (gate?.changedAt ?? Number.NEGATIVE_INFINITY))
    return { type: "reading", effects: [read(gated)] };
  const { unmet, resourceVersion, explainable } = judged;
  if (unmet === undefined) return { type: "met", resourceVersion };
  if (resourceVersion === undefined && now < judged.at + WATCH_LAG && secondsOf(gated) !== undefined) {
    const message = `${formatRef(place)} is gone: finding out how it has ended`;
    return unmetBecause(
      { gate: unmet.gate, state: { type: "waiting", message } },
      message,
      undefined,
      judged.at + WATCH_LAG,
    );
  }
  if (explainable === undefined) return unmetBecause(unmet, unmet.state.message, resourceVersion);
  const explained = gate?.explained;
  const lookAt = explained === undefined ? now : nextLook(since, explained.at);
  const asking = explaining(gated, judged, explained, now >= lookAt);
  if (asking !== undefined) return { type: "reading", effects: [asking] };
  if (explained?.isReady === true) return { type: "met", resourceVersion };
  return explainable.by.type === "itself"
    ? unmetBecause(unmet, sayOf(explainable.object, unmet.state.message), resourceVersion)
    : unmetBecause(unmet, explained?.message ?? unmet.state.message, resourceVersion, lookAt);
};
