// Builds the label selector of a workload's Pods.
import { asObject, type KubeObject } from "@janus/types";
import { objectsAt, textAt, textsAt } from "./read-fields.ts";

/** The kinds that have Pods by `spec.selector`. */
const WORKLOADS: readonly string[] = [
  "apps Deployment",
  "apps ReplicaSet",
  "apps StatefulSet",
  "apps DaemonSet",
  "batch Job",
];

const OPERATORS: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/**
 * The label selector of a workload's Pods, as the API server takes it; undefined for what has no Pods.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export const podSelector = ({ apiVersion, kind, ...object }: KubeObject): string | undefined => {
  const group = apiVersion.split("/").slice(0, -1).join("");
  if (!WORKLOADS.includes(`${group} ${kind}`)) return undefined;
  const { selector } = asObject(object["spec"]);
  const matchLabels = asObject(asObject(selector)["matchLabels"]);
  const labels = Object.keys(matchLabels).map((key) => `${key}=${textAt(matchLabels, key)}`);
  const expressions = objectsAt(selector, "matchExpressions").flatMap((expression) => {
    const write = OPERATORS[textAt(expression, "operator")];
    return write === undefined ? [] : [write(textAt(expression, "key"), textsAt(expression, "values").join(","))];
  });
  const all = [...labels, ...expressions];
  return all.length === 0 ? undefined : all.join(",");
};
