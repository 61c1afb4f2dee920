// Decides when a StatefulSet is ready: its replicas are ready and of the latest revision.
import type { KubeObject } from "@janus/types";
import { type GateState, met, notYet } from "./gate-state.ts";
import { integerAt, textAt } from "./read-fields.ts";

/**
 * Ready: all replicas are ready and of the latest revision, or as many of them as the partition asks for. With the update
 * strategy OnDelete, users replace the Pods, and nothing is waited for.
 */
export const readyStatefulSet = (statefulSet: KubeObject): GateState => {
  if (textAt(statefulSet, "spec", "updateStrategy", "type") === "OnDelete") return met;

  const wanted = integerAt(statefulSet, "spec", "replicas") ?? 1;
  const count = (name: string): number => integerAt(statefulSet, "status", name) ?? 0;
  const [all, ready, updated, current] = [
    count("replicas"),
    count("readyReplicas"),
    count("updatedReplicas"),
    count("currentReplicas"),
  ];
  if (wanted > all) return notYet(`${all} of ${wanted} replicas created`);
  if (wanted > ready) return notYet(`${ready} of ${wanted} replicas ready`);
  if (all > wanted) return notYet(`replicas still to be terminated: ${all - wanted}`);

  const partition = integerAt(statefulSet, "spec", "updateStrategy", "rollingUpdate", "partition");
  // kstatus takes -1, which the API server refuses, for none.
  if (partition !== undefined && partition !== -1) {
    const toUpdate = wanted - partition;
    return updated < toUpdate ? notYet(`${updated} of ${toUpdate} replicas updated`) : met;
  }
  if (wanted > current) return notYet(`${current} of ${wanted} replicas of the current revision`);
  return textAt(statefulSet, "status", "currentRevision") === textAt(statefulSet, "status", "updateRevision")
    ? met
    : notYet(`${updated} of ${wanted} replicas updated`);
};
