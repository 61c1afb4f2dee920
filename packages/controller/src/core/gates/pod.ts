// Decides when a Pod is ready: its containers are ready, or it has succeeded.
import type { KubeObject } from "@janus/types";
import { failed, type GateState, met, notYet } from "./gate-state.ts";
import { conditionsOf, describeCondition } from "./object-conditions.ts";
import { podTrouble } from "./pod-trouble.ts";
import { textAt } from "./read-fields.ts";

/**
 * Ready: its containers are, or it has succeeded. A Pod that has failed stays so; kstatus is content with it, as with all
 * that is over. One whose containers crash, or that cannot be scheduled, may still become ready; kstatus calls that failed.
 */
export const readyPod = (pod: KubeObject): GateState => {
  const phase = textAt(pod, "status", "phase");
  const trouble = podTrouble(pod);
  if (phase === "Succeeded") return met;
  if (phase === "Failed") return failed(trouble ?? "failed");
  const readiness = conditionsOf(pod).filter(({ type }) => type === "Ready");
  if (phase === "Running" && readiness.some(({ status }) => status === "True")) return met;
  if (trouble !== undefined) return notYet(trouble);
  if (phase !== "Running") return notYet(phase === "" ? "not started yet" : `phase ${phase}`);
  const [unready] = readiness;
  return notYet(unready === undefined ? "running, but not ready" : describeCondition(unready));
};
