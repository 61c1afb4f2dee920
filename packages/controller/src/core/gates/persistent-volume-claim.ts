// Decides when a PersistentVolumeClaim is ready (it is bound), and whether it waits for its first Pod.
import type { KubeObject } from "@janus/types";
import { latestEvent } from "./events.ts";
import { type GateState, met, notYet } from "./gate-state.ts";
import { textAt } from "./read-fields.ts";

/** Ready: it is bound to a volume. */
export const readyPersistentVolumeClaim = (claim: KubeObject): GateState => {
  const phase = textAt(claim, "status", "phase");
  if (phase === "Bound") return met;
  return notYet(phase === "" ? "not bound to a volume yet" : `not bound to a volume: phase ${phase}`);
};

/** The Node for which its volume is made; the scheduler sets it with the first Pod that uses the claim. */
const SELECTED_NODE = "volume.kubernetes.io/selected-node";

/** Whether no Pod that uses it has been scheduled yet, as far as it says itself. */
export const isUnscheduled = (claim: KubeObject): boolean =>
  textAt(claim, "status", "phase") === "Pending" &&
  textAt(claim, "metadata", "annotations", SELECTED_NODE) === "" &&
  textAt(claim, "spec", "volumeName") === "";

/**
 * Whether a claim for which no Pod is scheduled waits just for that: the controller of volumes says so of a claim whose StorageClass
 * has `volumeBindingMode: WaitForFirstConsumer`, and of no other.
 * https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode
 */
export const awaitsConsumer = (events: readonly KubeObject[]): boolean =>
  textAt(latestEvent(events), "reason") === "WaitForFirstConsumer";
