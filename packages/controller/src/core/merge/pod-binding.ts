// Finds the fields that the scheduler has written into a Pod.
import { type Fields, has, none, type Path, setOf } from "./field-set.ts";
import type { KubeObject } from "@janus/types";

type Texts = Readonly<Record<string, string>>;

const nodeOf = ({ spec }: KubeObject): unknown => (spec as { readonly nodeName?: unknown } | undefined)?.nodeName;

/** The labels or annotations that have come without a manager. */
const added = (was: Texts = {}, is: Texts = {}, parent: Path, managed: readonly Fields[]): readonly Path[] =>
  Object.keys(is)
    .filter((name) => !Object.hasOwn(was, name))
    .map((name) => [...parent, `f:${name}`])
    .filter((path) => !managed.some((fields) => has(fields, path)));

/**
 * Fields that the scheduler has written into a Pod since, by binding it to a node: the name of the node, labels and annotations.
 * The API server records no manager for them, so that they would count as consequences of the change; and it takes no Pod off its
 * node again.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/binding-v1/
 *
 * @param managed the fields that have a manager in the live object.
 */
export const boundSince = (before: KubeObject, live: KubeObject, managed: readonly Fields[]): Fields => {
  const isBound = nodeOf(before) === undefined && nodeOf(live) !== undefined;
  if (live.apiVersion !== "v1" || live.kind !== "Pod" || !isBound) return none;
  const [was, is] = [before.metadata, live.metadata];
  const paths = [
    ["f:spec", "f:nodeName"],
    ...added(was.labels, is.labels, ["f:metadata", "f:labels"], managed),
    ...added(was.annotations, is.annotations, ["f:metadata", "f:annotations"], managed),
  ];
  return setOf(paths);
};
