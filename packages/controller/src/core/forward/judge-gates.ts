// Judges the target of a change by its gates.
import { groupOf } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { firstUnmet } from "../gates/evaluate.ts";
import { showGate, showGates } from "../gates/gate.ts";
import { isUnscheduled } from "../gates/persistent-volume-claim.ts";
import { podSelector } from "../gates/pod-selector.ts";
import { secondsAfterFinished } from "../kubernetes/finished-job.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { modifiedBy } from "../merge/field-managers.ts";
import { revertedFields } from "../merge/reverted-fields.ts";
import { showPaths } from "../merge/show-path.ts";
import type {
  Explainable,
  GateObservations,
  JudgedGates,
  TargetObservation,
  UnmetGate,
} from "../state/target-observations.ts";
import type { Gated } from "../state/gated.ts";

const final = (message: string, gate: string): UnmetGate => ({
  gate,
  final: "conflict",
  state: { type: "failed", message },
});

/** How long a Job stays that deletes itself when it has finished, in seconds; undefined: it does not. */
export const secondsOf = ({ change, place }: Gated): number | undefined =>
  change.type === "Delete" ? undefined : secondsAfterFinished(place, change.content);

/** A Job that is to delete itself may have done so: then nothing has seen how it has ended. */
const goneMessage = (gated: Gated): string => {
  const { place } = gated;
  const seconds = secondsOf(gated);
  return seconds === undefined
    ? `${formatRef(place)} was deleted by another client`
    : `${formatRef(place)} is gone before it was seen to be complete: with ttlSecondsAfterFinished ${seconds} it is deleted that soon after it has finished; raise that to 300, for example, or grant the ServiceAccount the verb watch on jobs`;
};

/** Names what others have reverted of a change: then the gates would be those of a state that nobody asked for. */
const revertedIn = ({ change, place, conceals, revertible }: Gated, object: KubeObject): string | undefined => {
  if (revertible === undefined) return undefined;
  const fields = revertedFields(change, place, revertible.before, object, revertible.author);
  return fields.length === 0
    ? undefined
    : `${showPaths(fields, conceals)} of ${formatRef(place)} was modified by ${modifiedBy(object, fields)} after it was applied: change it at its source, or leave the field out`;
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
  const reverted = own === undefined ? undefined : revertedIn(gated, own);
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

/** Judges a target by its gates, as it was when it was read. */
export const judge = (
  gated: Gated,
  { at, object }: TargetObservation,
  { finished }: GateObservations = {},
): JudgedGates => {
  const seen = finished?.metadata.uid === gated.uid ? finished : undefined;
  const unmet = unmetOf(gated, object, seen);
  const resourceVersion = object?.metadata.resourceVersion;
  if (unmet === undefined) return { at, resourceVersion };
  return object === undefined || unmet.final !== undefined
    ? { at, resourceVersion, unmet }
    : { at, resourceVersion, unmet, explainable: explainable(gated, object) };
};
