// Reads the targets that have gates, and keeps the state of each gate with an explanation.
import * as E from "fp-ts/lib/Either.js";
import { groupOf } from "@janus/api";
import { firstUnmet } from "../gates/evaluate.ts";
import { describeEvent, latestEvent, warningsIn } from "../gates/events.ts";
import { type Gate, showGate, showGates } from "../gates/gate.ts";
import { awaitsConsumer, isUnscheduled } from "../gates/persistent-volume-claim.ts";
import { explain, sayOf } from "../gates/pods.ts";
import { podSelector } from "../gates/pod-selector.ts";
import { messageOf, type Instant, type KubeObject } from "@janus/types";
import { finishedJob, secondsAfterFinished } from "../kubernetes/finished-job.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, Effect, FindEvents, FindPods, Closure, FaultClosure } from "../state/effect.ts";
import { changeIn, type Observations, withGate } from "../state/observations.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import {
  type Explainable,
  type Explanation,
  type GateObservations,
  type JudgedGates,
  stillUnanswered,
  type TargetObservation,
  type UnmetGate,
} from "../state/target-observations.ts";

/** A target, and the gates that it has to meet. */
export interface Gated extends ResolvedItem {
  readonly gates: readonly Gate[];
  /** The uid that it has had since the change, or the rollback, of this Transaction. */
  readonly uid: string;
  /** Whether messages must not quote its values. */
  readonly conceals: boolean;
  /** Names what others have reverted of the change. Absent: that does not matter. */
  readonly reverted?: (object: KubeObject) => string | undefined;
}

export type GateObservation =
  | { readonly type: "reading"; readonly effects: readonly Effect[] }
  | { readonly type: "met"; readonly resourceVersion: string | undefined }
  | ({
      readonly type: "unmet";
      readonly resourceVersion: string | undefined;
      /** When what is wrong with it is looked at again, beside the target itself. */
      readonly lookAt: Instant;
    } & UnmetGate);

const recordUnreadable =
  ({ index }: ResolvedItem): Closure =>
  (known, answer) =>
    withGate(known, index, E.isRight(answer) ? { unanswered: undefined } : { unreadable: messageOf(answer.left) });

/** Records why requests for the target of a change, or for its kind, had no answer. */
export const whenUnanswered =
  (index: number): FaultClosure =>
  (known, fault, now) => {
    const unanswered = stillUnanswered(changeIn(known, index).gate?.unanswered, fault, now);
    return withGate(known, index, { unanswered });
  };

/** Finds what is wrong with its Pods, as far as the ServiceAccount may list them. */
const findPods = ({ index, place }: Gated, object: KubeObject, labelSelector: string, said: string): FindPods => ({
  purpose: "find-pods",
  item: index,
  namespace: place.namespace ?? "",
  labelSelector,
  folds: [(known, pods, now) => withGate(known, index, { explained: { at: now, ...explain(object, said, pods) } })],
});

const findEvents = (
  { index, place }: Gated,
  uid: string,
  explanation: (events: readonly KubeObject[] | undefined) => Omit<Explanation, "at">,
): FindEvents => ({
  purpose: "find-events",
  item: index,
  namespace: place.namespace ?? "",
  uid,
  folds: [(known, events, now) => withGate(known, index, { explained: { at: now, ...explanation(events) } })],
});

/** Explains by a Pod that does not say itself what is wrong with it. */
const explainByPod = (
  object: KubeObject,
  said: string,
  { message, pod }: Explanation,
  events: readonly KubeObject[] = [],
): Omit<Explanation, "at"> => {
  const last = latestEvent(warningsIn(events));
  return { message: last === undefined ? message : sayOf(object, said, `${describeEvent(last)}, Pod ${pod?.name}`) };
};

/** Explains a claim by its Events, which quote it. */
const explainClaim = (
  gated: Gated,
  object: KubeObject,
  said: string,
  isUnscheduled: boolean,
  events: readonly KubeObject[] | undefined,
): Omit<Explanation, "at"> => {
  if (events === undefined)
    return { message: sayOf(object, `${said}; grant the ServiceAccount the verb list on events to know why`) };
  if (isUnscheduled && isOnlyReady(gated) && awaitsConsumer(events)) return { message: "", isReady: true };
  const last = gated.conceals ? undefined : latestEvent(events);
  return { message: sayOf(object, said, last === undefined ? undefined : describeEvent(last)) };
};

const final = (message: string, gate: string): UnmetGate => ({
  gate,
  final: "conflict",
  state: { type: "failed", message },
});

/** How long a Job stays that deletes itself when it has finished, in seconds; undefined: it does not. */
const secondsOf = ({ change, place }: Gated): number | undefined =>
  change.type === "Delete" ? undefined : secondsAfterFinished(place, change.content);

/** So long after a Job has gone, a watch may still tell how it has ended, in ms. */
const WATCH_LAG = 3000;

/** A Job that is to delete itself may have done so: then nothing has seen how it has ended. */
const goneMessage = (gated: Gated): string => {
  const { place } = gated;
  const seconds = secondsOf(gated);
  return seconds === undefined
    ? `${formatRef(place)} was deleted by another client`
    : `${formatRef(place)} is gone before it was seen to be complete: with ttlSecondsAfterFinished ${seconds} it is deleted that soon after it has finished; raise that to 300, for example, or grant the ServiceAccount the verb watch on jobs`;
};

const unmetOf = (
  gated: Gated,
  object: KubeObject | undefined,
  finished: KubeObject | undefined,
): UnmetGate | undefined => {
  const { gates, place, uid, conceals } = gated;
  const isAnother = object !== undefined && object.metadata.uid !== uid;
  const isForDeletion = gates.every(({ type }) => type === "delete");
  if (isAnother && !isForDeletion && finished === undefined)
    return final(`${formatRef(place)} was deleted and created again by another client`, showGates(gates, conceals));
  // Of an object that is deleted, another one of its name says nothing.
  const own = isAnother ? undefined : object;
  const reverted = own === undefined ? undefined : gated.reverted?.(own);
  if (reverted !== undefined) return final(reverted, showGates(gates, conceals));
  const unmet = firstUnmet(gates, own ?? (isForDeletion ? undefined : finished), conceals);
  if (unmet === undefined) return undefined;
  const gate = showGate(unmet.gate, conceals);
  return own === undefined && finished === undefined && unmet.gate.type !== "create"
    ? final(goneMessage(gated), gate)
    : { gate, state: unmet.state };
};

/** The place that shows what is wrong with an object that does not meet its gates. Pods say what they have of it. */
const explainable = ({ conceals }: Gated, object: KubeObject): Explainable => {
  const { apiVersion, kind, metadata } = object;
  const named: KubeObject = { apiVersion, kind, metadata: { name: metadata.name ?? "" } };
  const labelSelector = conceals ? undefined : podSelector(object);
  if (labelSelector !== undefined) return { object: named, by: { type: "pods", labelSelector } };
  return kind === "PersistentVolumeClaim" && groupOf(apiVersion) === ""
    ? { object: named, by: { type: "events", uid: metadata.uid ?? "", isUnscheduled: isUnscheduled(object) } }
    : { object: named, by: { type: "itself" } };
};

/** Judges a target by its gates. */
const judge = (gated: Gated, { at, object }: TargetObservation, { finished }: GateObservations = {}): JudgedGates => {
  const seen = finished?.metadata.uid === gated.uid ? finished : undefined;
  const unmet = unmetOf(gated, object, seen);
  const resourceVersion = object?.metadata.resourceVersion;
  if (unmet === undefined) return { at, resourceVersion };
  return object === undefined || unmet.final !== undefined
    ? { at, resourceVersion, unmet }
    : { at, resourceVersion, unmet, explainable: explainable(gated, object) };
};

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
  const { index } = gated;
  const asked = readTarget(gated, recordUnreadable(gated));
  return {
    ...asked,
    folds: [
      (known, _, __, ___, inner) => {
        const learned = inner(known, asked.folds);
        const { target, gate } = changeIn(learned, index);
        if (target === undefined || target === changeIn(known, index).target) return learned;
        const finished = target.object === undefined ? undefined : finishedJob(target.object);
        return withGate(learned, index, {
          judged: judge(gated, target, gate),
          ...(finished === undefined ? {} : { finished }),
        });
      },
    ],
    unanswered: [...(asked.unanswered ?? []), whenUnanswered(index)],
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
  if (explained === undefined || explained.at < at || isDue)
    return by.type === "pods"
      ? findPods(gated, object, by.labelSelector, said)
      : findEvents(gated, by.uid, (events) => explainClaim(gated, object, said, by.isUnscheduled, events));
  return explained.pod === undefined
    ? undefined
    : findEvents(gated, explained.pod.uid, (events) => explainByPod(object, said, explained, events));
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
