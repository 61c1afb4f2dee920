import { cut } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { podTrouble } from "./pod-trouble.ts";
import { textAt } from "./read-fields.ts";

/** As much as a condition, an item and an event have room for. */
const MAX_MESSAGE = 1024;

/** Seconds, as `metadata.creationTimestamp` has them, sort as text. */
const createdAt = (pod: KubeObject): string => textAt(pod, "metadata", "creationTimestamp");

const newestFirst = (a: KubeObject, b: KubeObject): number => {
  const [x, y] = [createdAt(a), createdAt(b)];
  return x === y ? 0 : x < y ? 1 : -1;
};

/**
 * Says why a workload is not ready, so that users need not search for the Pod:
 * `Deployment web: 1 of 3 updated replicas available (last: container web in CrashLoopBackOff: exit code 1, Pod web-7d9f)`.
 * Of several Pods with something wrong it is the newest, which a rollout is about.
 *
 * Assumes: `message` is what the gate says of the workload, and the Pods are those of the workload, in any order; those that
 *          are being deleted are not what it waits for.
 */
export const explain = (workload: KubeObject, message: string, pods: readonly KubeObject[]): string => {
  const text = `${workload.kind} ${textAt(workload, "metadata", "name")}: ${message}`;
  const [last] = pods
    .filter((pod) => textAt(pod, "metadata", "deletionTimestamp") === "")
    .toSorted(newestFirst)
    .flatMap((pod) => {
      const trouble = podTrouble(pod);
      return trouble === undefined ? [] : [`${trouble}, Pod ${textAt(pod, "metadata", "name")}`];
    });
  return cut(last === undefined ? text : `${text} (last: ${last})`, MAX_MESSAGE);
};
