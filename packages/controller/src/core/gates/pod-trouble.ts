// Explains why a Pod is not ready, by its containers and conditions.
import type { KubeObject } from "@janus/types";
import { cut } from "@janus/api";
import { because } from "./gate-state.ts";
import { conditionsOf } from "./object-conditions.ts";
import { integerAt, objectsAt, textAt, valueAt } from "./read-fields.ts";

/** The most bytes of a message of a kubelet or a scheduler, which may be long. */
const MAX_MESSAGE = 256;

/** A container waits for one of these in every Pod that starts. */
const STARTING: readonly string[] = ["ContainerCreating", "PodInitializing"];

/** `exit code 137 (OOMKilled)`; `Error` says no more than the code does. */
const describeExit = (terminated: unknown): string => {
  const code = integerAt(terminated, "exitCode");
  const reason = textAt(terminated, "reason");
  if (code === undefined) return reason;
  return reason === "" || reason === "Error" ? `exit code ${code}` : `exit code ${code} (${reason})`;
};

const waitingTrouble = (status: object): string | undefined => {
  const reason = textAt(status, "state", "waiting", "reason");
  if (reason === "" || STARTING.includes(reason)) return undefined;
  // What the kubelet says of a crash is how long it waits before it starts the container again, not why it ended.
  const exit = describeExit(valueAt(status, "lastState", "terminated"));
  const why = reason === "CrashLoopBackOff" && exit !== "" ? exit : textAt(status, "state", "waiting", "message");
  return because(`container ${textAt(status, "name")} in ${reason}`, cut(why, MAX_MESSAGE));
};

const exitTrouble = (status: object): string | undefined => {
  const terminated = valueAt(status, "state", "terminated");
  return (integerAt(terminated, "exitCode") ?? 0) === 0
    ? undefined
    : `container ${textAt(status, "name")} terminated: ${describeExit(terminated)}`;
};

const schedulingTrouble = (pod: KubeObject): string | undefined => {
  const unscheduled = conditionsOf(pod).find(
    ({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable",
  );
  return unscheduled === undefined ? undefined : because("unschedulable", cut(unscheduled.message, MAX_MESSAGE));
};

const first = (statuses: readonly object[], trouble: (status: object) => string | undefined): string | undefined =>
  statuses.map(trouble).find((one) => one !== undefined);

/**
 * Names what keeps a Pod from being ready, in the words of its kubelet or its scheduler: `container web in CrashLoopBackOff: exit
 * code 1`. Undefined if they report no problem.
 */
export const podTrouble = (pod: KubeObject): string | undefined => {
  const statuses = [
    ...objectsAt(pod, "status", "initContainerStatuses"),
    ...objectsAt(pod, "status", "containerStatuses"),
  ];
  const said = because(textAt(pod, "status", "reason"), cut(textAt(pod, "status", "message"), MAX_MESSAGE));
  const inContainers = first(statuses, waitingTrouble) ?? first(statuses, exitTrouble);
  if (textAt(pod, "status", "phase") === "Failed") return because("failed", said || (inContainers ?? ""));
  return inContainers ?? schedulingTrouble(pod);
};
