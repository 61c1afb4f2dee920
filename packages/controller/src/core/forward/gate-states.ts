import * as E from "fp-ts/lib/Either.js";
import { evaluate } from "../gates/evaluate.ts";
import { formatGate, type Gate } from "../gates/gate.ts";
import type { GateState } from "../gates/gate-state.ts";
import { explain } from "../gates/pods.ts";
import { podSelector } from "../gates/pod-selector.ts";
import { messageOf } from "../kubernetes/api-error.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { Instant } from "../kubernetes/time.ts";
import type { ApiCall, Effect, FindPods } from "../state/effect.ts";
import { changeIn, type Observations, withGate } from "../state/observations.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { stillUnanswered } from "../state/target-observations.ts";
import type { KubeObject } from "@janus/types";

/** A target, and the gates that it has to meet. */
export interface Gated extends ResolvedItem {
  readonly gates: readonly Gate[];
  /** The uid that it has had since the change, or the rollback, of this Transaction. */
  readonly uid: string;
  /** Whether messages must not quote its values. */
  readonly conceals: boolean;
}

/** The first of the gates that is not met, or that cannot be any more. */
export interface Unmet {
  readonly gate: string;
  /** The target was deleted, or may not be read. */
  readonly isGone: boolean;
  readonly state: Exclude<GateState, { readonly type: "met" }>;
}

export type GateObservation =
  | { readonly type: "reading"; readonly effects: readonly Effect[] }
  | { readonly type: "met" }
  | ({ readonly type: "unmet"; readonly resourceVersion: string | undefined } & Unmet);

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

const read = (gated: Gated): ApiCall => {
  const asked = readTarget(gated, recordUnreadable(gated));
  return { ...asked, onTransientFault: whenUnanswered(gated.index, asked.onTransientFault) };
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

const gone = (message: string, gate: string): Unmet => ({ gate, isGone: true, state: { type: "failed", message } });

const unmetOf = ({ gates, place, uid, conceals }: Gated, object: KubeObject | undefined): Unmet | undefined => {
  const isAnother = object !== undefined && object.metadata.uid !== uid;
  if (isAnother && gates.some(({ type }) => type !== "delete"))
    return gone(
      `${formatRef(place)} was deleted and created again by another client`,
      gates.map(formatGate).join(", "),
    );
  // Of an object that is deleted, another one of its name says nothing.
  const own = isAnother ? undefined : object;
  const states = gates.map((gate) => ({
    type: gate.type,
    gate: formatGate(gate),
    state: evaluate(gate, own, conceals),
  }));
  const unmet =
    states.find(({ state }) => state.type === "failed") ?? states.find(({ state }) => state.type === "waiting");
  if (unmet === undefined || unmet.state.type === "met") return undefined;
  const { type, gate, state } = unmet;
  return object === undefined && type !== "create"
    ? gone(`${formatRef(place)} was deleted by another client`, gate)
    : { gate, isGone: false, state };
};

/**
 * How far a target is, by a live read that is not older than `since`, nor than the last change that a watch reported.
 *
 * Guarantees: what is said of a workload names its newest Pod that something is wrong with.
 */
export const observeGates = (gated: Gated, known: Observations, since: Instant): GateObservation => {
  const { index, place } = gated;
  const { target: seen, gate } = changeIn(known, index);
  const refused = gate?.unreadable;
  if (refused !== undefined)
    return {
      type: "unmet",
      resourceVersion: undefined,
      gate: gated.gates.map(formatGate).join(", "),
      isGone: true,
      state: { type: "failed", message: `${formatRef(place)} cannot be read: ${refused}` },
    };
  const changedAt = gate?.changedAt ?? Number.NEGATIVE_INFINITY;
  if (seen === undefined || seen.type === "outline" || seen.at < since || seen.at <= changedAt)
    return { type: "reading", effects: [read(gated)] };
  const { object } = seen;
  const unmet = unmetOf(gated, object);
  if (unmet === undefined) return { type: "met" };
  const unmetBecause = (message: string): GateObservation => ({
    type: "unmet",
    resourceVersion: object?.metadata.resourceVersion,
    gate: unmet.gate,
    isGone: unmet.isGone,
    state: { ...unmet.state, message },
  });
  const selector = object === undefined ? undefined : podSelector(object);
  if (object === undefined) return unmetBecause(unmet.state.message);
  if (selector === undefined) return unmetBecause(explain(object, unmet.state.message, []));
  const explained = gate?.explained;
  return explained === undefined || explained.at < seen.at
    ? { type: "reading", effects: [findPods(gated, object, selector, unmet.state.message)] }
    : unmetBecause(explained.message);
};
