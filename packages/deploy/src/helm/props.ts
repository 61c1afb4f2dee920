import { k8s } from "cdk8s-plus-30";
import type { JanusProps } from "../janus.ts";
import type { ChartValues } from "./values.ts";

const quantities = (all: Readonly<Record<string, string>> = {}): Record<string, k8s.Quantity> =>
  Object.fromEntries(Object.entries(all).map(([name, quantity]) => [name, k8s.Quantity.fromString(quantity)]));

/** The props of the constructs that make what the chart makes of these values in this namespace. */
export const propsOf = (values: ChartValues, namespace: string) => {
  const { replicas, actsAs, controller, resources, priorityClassName, networkPolicy, monitoring, ...same } = values;
  const { leaseNamespace, ...leaderElection } = controller.leaderElection;
  const { enabled, ...prometheus } = monitoring;
  return {
    ...same,
    ...networkPolicy,
    ...prometheus,
    ...controller,
    namespace,
    monitoring: enabled,
    resources: {
      ...(resources.requests === undefined ? {} : { requests: quantities(resources.requests) }),
      ...(resources.limits === undefined ? {} : { limits: quantities(resources.limits) }),
    },
    leaderElection: { ...leaderElection, ...(leaseNamespace === "" ? {} : { leaseNamespace }) },
    ...(priorityClassName === "" ? {} : { priorityClassName }),
    ...(replicas === null ? {} : { replicas }),
    ...(actsAs === null ? {} : { actsAs }),
  } satisfies JanusProps;
};
