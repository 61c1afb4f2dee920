// The fields that a controller overwrites: the rules of an aggregated ClusterRole.
import { isObject, type JsonObject, type KubeObject, type Resource } from "@janus/types";

const NONE: readonly string[] = [];

/** The field manager that sets them. */
export const CONTROLLED_BY = "clusterrole-aggregation-controller";

/**
 * The fields of an object that a controller sets, whatever anybody writes to them: the rules of an aggregated ClusterRole. All
 * others that controllers set either have a manager of their own, or cannot be changed.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 *
 * @param rest what stays of the object beside the content
 */
export const controlledFields = (
  { group, kind }: Pick<Resource, "group" | "kind">,
  content: JsonObject,
  rest: KubeObject | undefined,
): readonly string[] => {
  const { aggregationRule = rest?.["aggregationRule"] } = content;
  const isAggregated = group === "rbac.authorization.k8s.io" && kind === "ClusterRole" && isObject(aggregationRule);
  return isAggregated ? ["rules"] : NONE;
};
