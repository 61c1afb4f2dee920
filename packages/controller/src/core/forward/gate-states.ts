import * as E from "fp-ts/lib/Either.js";
import { firstUnmet } from "../gates/evaluate.ts";
import { type Gate, showGate, showGates } from "../gates/gate.ts";
import { explain } from "../gates/pods.ts";
import { podSelector } from "../gates/pod-selector.ts";
import { messageOf } from "../kubernetes/api-error.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { Instant } from "../kubernetes/time.ts";
import type { ApiCall, Effect, FindPods } from "../state/effect.ts";
import { changeIn, type Observations, withGate } from "../state/observations.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import {
  type JudgedGates,
  stillUnanswered,
  type TargetObservation,
  type UnmetGate,
} from "../state/target-observations.ts";
import type { KubeObject } from "@janus/types";

/** A target, and the gates that it has to meet. */
export interface Gated extends ResolvedItem {
  readonly gates: readonly Gate[];
  /** The uid that it has had since the change, or the rollback, of this Transaction. */
  readonly uid: string;
  /** Whether messages must not quote its values. */
  readonly conceals: boolean;
}

export type GateObservation =
  | { readonly type: "reading"; readonly effects: readonly Effect[] }
  | { readonly type: "met" }
  | ({ readonly type: "unmet"; readonly resourceVersion: string | undefined } & UnmetGate);

const recordUnreadable =
  ({ index }: ResolvedItem): ApiCall["onAnswer"] =>
  (known, answer) =>
    withGate(known, index, E.isRight(answer) ? { unanswered: undefined } : { unreadable: messageOf(answer.left) });

/** For requests for the target of a change, or for its kind: why there was no answer. */
export const whenUnanswered =
  (index: number, former?: ApiCall["onTransientFault"]): NonNullable<ApiCall["onTransientFault"]> =>
  (known, fault, now) => {
    const unanswered = stillUnanswered(changeIn(known, index).gate?.unanswered, fault, now);
    return withGate(former?.(known, fault, now) ?? known, index, { unanswered });
  };

/** With what is wrong with its Pods, as far as the ServiceAccount may list them. */
const findPods = ({ index, place }: Gated, object: KubeObject, labelSelector: string, said: string): FindPods => ({
  purpose: "find-pods",
  item: index,
  namespace: place.namespace ?? "",
  labelSelector,
  onAnswer: (known, pods, now) =>
    withGate(known, index, { explained: { at: now, message: explain(object, said, pods) } }),
});

const gone = (message: string, gate: string): UnmetGate => ({ gate, isGone: true, state: { type: "failed", message } });

const unmetOf = ({ gates, place, uid, conceals }: Gated, object: KubeObject | undefined): UnmetGate | undefined => {
  const isAnother = object !== undefined && object.metadata.uid !== uid;
  if (isAnother && gates.some(({ type }) => type !== "delete"))
    return gone(`${formatRef(place)} was deleted and created again by another client`, showGates(gates, conceals));
  // Of an object that is deleted, another one of its name says nothing.
  const own = isAnother ? undefined : object;
  const unmet = firstUnmet(gates, own, conceals);
  if (unmet === undefined) return undefined;
  const gate = showGate(unmet.gate, conceals);
  return object === undefined && unmet.gate.type !== "create"
    ? gone(`${formatRef(place)} was deleted by another client`, gate)
    : { gate, isGone: false, state: unmet.state };
};

/** What a target shows of its gates. */
const judge = (gated: Gated, { at, object }: TargetObservation): JudgedGates => {
  const unmet = unmetOf(gated, object);
  const resourceVersion = object?.metadata.resourceVersion;
  if (unmet === undefined) return { at, resourceVersion };
  if (object === undefined) return { at, resourceVersion, unmet };
  const { apiVersion, kind, metadata } = object;
  const named: KubeObject = { apiVersion, kind, metadata: { name: metadata.name ?? "" } };
  return { at, resourceVersion, unmet, workload: { object: named, podSelector: podSelector(object) } };
};

/** What the latest read shows. It was not judged if it was made for something else. */
const latest = (
  gated: Gated,
  seen: TargetObservation | undefined,
  judged: JudgedGates | undefined,
): JudgedGates | undefined =>
  seen === undefined || seen.type === "outline" || (judged !== undefined && judged.at >= seen.at)
    ? judged
    : judge(gated, seen);

/** Reads the target, and remembers what that shows of its gates. */
const read = (gated: Gated): ApiCall => {
  const { index } = gated;
  const asked = readTarget(gated, recordUnreadable(gated));
  return {
    ...asked,
    onAnswer: (known, ...answer) => {
      const learned = asked.onAnswer(known, ...answer);
      const { target } = changeIn(learned, index);
      return target === undefined || target === changeIn(known, index).target
        ? learned
        : withGate(learned, index, { judged: judge(gated, target) });
    },
    onTransientFault: whenUnanswered(index, asked.onTransientFault),
  };
};

/**
 * How far a target is, by a live read that is not older than `since`, nor than the last change that a watch reported.
 *
 * Guarantees: of each read, the gates are evaluated once; what is said of a workload names its newest Pod that something is wrong with.
 */
export const observeGates = (gated: Gated, known: Observations, since: Instant): GateObservation => {
  const { index, place } = gated;
  const { target: seen, gate } = changeIn(known, index);
  const refused = gate?.unreadable;
  if (refused !== undefined)
    return {
      type: "unmet",
      resourceVersion: undefined,
      gate: showGates(gated.gates, gated.conceals),
      isGone: true,
      state: { type: "failed", message: `${formatRef(place)} cannot be read: ${refused}` },
    };
  const judged = latest(gated, seen, gate?.judged);
  if (judged === undefined || judged.at < since || judged.at <= (gate?.changedAt ?? Number.NEGATIVE_INFINITY))
    return { type: "reading", effects: [read(gated)] };
  const { unmet, resourceVersion, workload } = judged;
  if (unmet === undefined) return { type: "met" };
  const unmetBecause = (message: string): GateObservation => ({
    type: "unmet",
    resourceVersion,
    ...unmet,
    state: { ...unmet.state, message },
  });
  if (workload === undefined) return unmetBecause(unmet.state.message);
  const { object, podSelector } = workload;
  if (podSelector === undefined) return unmetBecause(explain(object, unmet.state.message, []));
  const explained = gate?.explained;
  return explained === undefined || explained.at < judged.at
    ? { type: "reading", effects: [findPods(gated, object, podSelector, unmet.state.message)] }
    : unmetBecause(explained.message);
};
