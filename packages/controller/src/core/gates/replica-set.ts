// Decides when a ReplicaSet is ready: all replicas are available.
import type { KubeObject } from "@janus/types";
import { because, type GateState, met, notYet } from "./gate-state.ts";
import { conditionsOf } from "./object-conditions.ts";
import { integerAt } from "./read-fields.ts";

/** Ready: as many replicas as asked for are available, and no more. */
export const readyReplicaSet = (replicaSet: KubeObject): GateState => {
  const failure = conditionsOf(replicaSet).find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  if (failure !== undefined) return notYet(because("replicas cannot be created", failure.reason, failure.message));

  const wanted = integerAt(replicaSet, "spec", "replicas") ?? 1;
  const count = (name: string): number => integerAt(replicaSet, "status", name) ?? 0;
  const [all, labeled, available, ready] = [
    count("replicas"),
    count("fullyLabeledReplicas"),
    count("availableReplicas"),
    count("readyReplicas"),
  ];
  if (wanted > labeled) return notYet(`${labeled} of ${wanted} replicas created`);
  if (wanted > available) return notYet(`${available} of ${wanted} replicas available`);
  if (wanted > ready) return notYet(`${ready} of ${wanted} replicas ready`);
  if (all > wanted) return notYet(`replicas still to be terminated: ${all - wanted}`);
  return met;
};
