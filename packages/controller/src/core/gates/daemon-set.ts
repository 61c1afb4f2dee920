// Decides when a DaemonSet is ready: an updated Pod is available on every node.
import type { KubeObject } from "@janus/types";
import { type GateState, met, notYet } from "./gate-state.ts";
import { integerAt } from "./read-fields.ts";

/** Ready: on each node that it is for, a Pod of the latest version is available. */
export const readyDaemonSet = (daemonSet: KubeObject): GateState => {
  const wanted = integerAt(daemonSet, "status", "desiredNumberScheduled");
  if (
    integerAt(daemonSet, "metadata", "generation") === undefined ||
    integerAt(daemonSet, "status", "observedGeneration") === undefined ||
    wanted === undefined ||
    wanted === -1
  )
    return notYet("not observed by its controller yet");

  const count = (name: string): number => integerAt(daemonSet, "status", name) ?? 0;
  const [scheduled, updated, available, ready] = [
    count("currentNumberScheduled"),
    count("updatedNumberScheduled"),
    count("numberAvailable"),
    count("numberReady"),
  ];
  if (wanted > scheduled) return notYet(`${scheduled} of ${wanted} Pods scheduled`);
  if (wanted > updated) return notYet(`${updated} of ${wanted} Pods updated`);
  if (wanted > available) return notYet(`${available} of ${wanted} Pods available`);
  if (wanted > ready) return notYet(`${ready} of ${wanted} Pods ready`);
  return met;
};
