// Recognises Jobs that finish and then delete themselves after their TTL.
import { groupOf } from "@janus/api";
import { asObject, type KubeObject } from "@janus/types";
import type { ObjectRef } from "./kube-object.ts";

const isJob = ({ apiVersion, kind }: KubeObject): boolean => groupOf(apiVersion) === "batch" && kind === "Job";

const FINISHED: readonly unknown[] = ["Complete", "Failed"];

const finishedConditions = (job: KubeObject): readonly object[] => {
  const { conditions } = asObject(job["status"]);
  return Array.isArray(conditions)
    ? conditions.map(asObject).filter(({ type, status }) => FINISHED.includes(type) && status === "True")
    : [];
};

const ttlOf = (object: unknown): unknown => asObject(asObject(object)["spec"])["ttlSecondsAfterFinished"];

/** A Job that has finished, as a gate looks at it once the Job has deleted itself; undefined: it has not, or is no Job. */
export const finishedJob = (object: KubeObject): KubeObject | undefined => {
  if (!isJob(object) || finishedConditions(object).length === 0) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { uid = "", name = "" } = metadata;
  return { apiVersion, kind, metadata: { name, uid }, status: object["status"] };
};

/** How long a Job stays when it has finished, by this content, in seconds; undefined: it stays, or is no Job. */
export const secondsAfterFinished = ({ resource }: ObjectRef, content: unknown): number | undefined => {
  const ttl = ttlOf(content);
  return resource.group === "batch" && resource.kind === "Job" && typeof ttl === "number" ? ttl : undefined;
};

export const isSelfCleaning = (place: ObjectRef, content: unknown): boolean =>
  secondsAfterFinished(place, content) !== undefined;

/** The part of a Job that {@link deletedWhenFinished} looks at. */
export const jobOutline = (object: KubeObject): object =>
  isJob(object)
    ? {
        spec: { ttlSecondsAfterFinished: ttlOf(object) },
        status: { conditions: finishedConditions(object).map((condition) => ({ ...condition, message: "" })) },
      }
    : {};

/**
 * Tells what content does to a Job that has finished, as the predicate of a sentence: it is deleted when this time is over, which
 * may be now. Undefined: nothing.
 * https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/
 */
export const deletedWhenFinished = (content: unknown, live: KubeObject): string | undefined => {
  const [is, was] = [ttlOf(content), ttlOf(live)];
  const isSooner = typeof is === "number" && !(typeof was === "number" && was <= is);
  return isSooner && isJob(live) && finishedConditions(live).length > 0
    ? "lets the cluster delete it, since it has finished"
    : undefined;
};
