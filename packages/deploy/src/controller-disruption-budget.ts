// The PodDisruptionBudget of the controller.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface ControllerDisruptionBudgetProps extends NamespacedProps {
  /**
   * How many Pods a drain may evict.
   * @default one at a time
   */
  readonly podDisruptionBudget?: {
    /**
     * Whether there is one. Never with `readiness: "leader"`.
     * @default true
     */
    readonly enabled?: boolean;
    /**
     * How many must stay available, or which share ("50%"), instead of `maxUnavailable`. With a single replica its node could not be
     * drained.
     * @default none
     */
    readonly minAvailable?: number | string;
    /**
     * How many may be unavailable, or which share ("50%").
     * @default 1
     */
    readonly maxUnavailable?: number | string;
  };
}

const intOrString = (value: number | string): k8s.IntOrString =>
  typeof value === "number" ? k8s.IntOrString.fromNumber(value) : k8s.IntOrString.fromString(value);

/** A drain evicts so many of the Pods with these labels; one that does not become ready does not block it. */
export const disruptionBudgetSpec = (
  matchLabels: Readonly<Record<string, string>>,
  { podDisruptionBudget: { minAvailable, maxUnavailable = 1 } = {} }: ControllerDisruptionBudgetProps,
): k8s.PodDisruptionBudgetSpec => ({
  ...(minAvailable === undefined
    ? { maxUnavailable: intOrString(maxUnavailable) }
    : { minAvailable: intOrString(minAvailable) }),
  unhealthyPodEvictionPolicy: "AlwaysAllow",
  selector: { matchLabels },
});

/**
 * Drains evict one controller at a time, so that another one can take over at once.
 *
 * Assumes: every working controller is ready (`readiness: "any"`). If only the leader is, its node could never be drained.
 * Source:  https://kubernetes.io/docs/tasks/run-application/configure-pdb/
 */
export class ControllerDisruptionBudget extends Construct {
  constructor(scope: Construct, id: string, props: ControllerDisruptionBudgetProps = {}) {
    super(scope, id);
    new k8s.KubePodDisruptionBudget(this, "Resource", {
      metadata: { name: CONTROLLER_NAME, namespace: props.namespace ?? SYSTEM_NAMESPACE, labels: controllerLabels },
      spec: disruptionBudgetSpec(controllerLabels, props),
    });
  }
}
