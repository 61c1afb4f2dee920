// Explains why a workload is not ready, by its latest Pods.
import { cut } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { podTrouble } from "./pod-trouble.ts";
import { textAt } from "./read-fields.ts";

/** The most bytes for which a condition, an item and an event have room. */
const MAX_MESSAGE = 1024;

/** Seconds, as `metadata.creationTimestamp` has them, sort as text. */
const createdAt = (pod: KubeObject): string => textAt(pod, "metadata", "creationTimestamp");

const newestFirst = (a: KubeObject, b: KubeObject): number => {
  const [x, y] = [createdAt(a), createdAt(b)];
  return x === y ? 0 : x < y ? 1 : -1;
};

/** A Pod that has not started, by itself for no reason: its Events may name one. */
export interface SilentPod {
  readonly name: string;
  readonly uid: string;
}

/** The text about a workload, and the Pod that may say more. */
export interface Said {
  readonly message: string;
  readonly pod?: SilentPod;
}

const isStarting = (pod: KubeObject): boolean => textAt(pod, "status", "phase") === "Pending";

/** `Deployment web: 1 of 3 updated replicas available (last: …)` */
export const sayOf = (object: KubeObject, message: string, last?: string): string => {
  const text = `${object.kind} ${textAt(object, "metadata", "name")}: ${message}`;
  return cut(last === undefined ? text : `${text} (last: ${last})`, MAX_MESSAGE);
};

/**
 * Says why a workload is not ready, so that users need not search for the Pod:
 * `Deployment web: 1 of 3 updated replicas available (last: container web in CrashLoopBackOff: exit code 1, Pod web-7d9f)`.
 * Of several Pods with something wrong it is the newest, which a rollout is about. Where none has, it is the newest that has not
 * started yet, of which the Events may say why.
 *
 * Assumes: `message` is what the gate says of the workload, and the Pods are those of the workload, in any order; those that
 *          are being deleted are not what it waits for.
 */
export const explain = (workload: KubeObject, message: string, pods: readonly KubeObject[]): Said => {
  const current = pods.filter((pod) => textAt(pod, "metadata", "deletionTimestamp") === "").toSorted(newestFirst);
  const [last] = current.flatMap((pod) => {
    const trouble = podTrouble(pod);
    return trouble === undefined ? [] : [`${trouble}, Pod ${textAt(pod, "metadata", "name")}`];
  });
  const said = sayOf(workload, message, last);
  const silent = last === undefined ? current.find(isStarting) : undefined;
  return silent === undefined
    ? { message: said }
    : { message: said, pod: { name: textAt(silent, "metadata", "name"), uid: textAt(silent, "metadata", "uid") } };
};
