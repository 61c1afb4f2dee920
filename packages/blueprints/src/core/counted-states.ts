// Counts ActionSets by state, for the metric.
import { asObject, type KubeObject } from "@janus/types";
import { RUNNING } from "../api/names.ts";

/** Running, and not taken up here: Kanister has left it, and nobody goes on with it. */
const isLeft = ({ metadata: { finalizers = [] } }: KubeObject, state: string): boolean =>
  state === "running" && !finalizers.includes(RUNNING);

/** Counts the ActionSets in each state; one that nobody has seen yet is pending. */
export const statesOf = (objects: Iterable<KubeObject>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const object of objects) {
    const { state = "pending" } = asObject(object["status"]);
    if (typeof state !== "string" || isLeft(object, state)) continue;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
};
