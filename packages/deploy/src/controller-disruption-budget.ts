import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultNamespace } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

/**
 * Drains of nodes take one controller at a time, so that one is left to take over at once.
 *
 * Assumes: every controller that works is ready (`readiness: "any"`). Where only the leader is, its node could never be drained.
 * Source:  https://kubernetes.io/docs/tasks/run-application/configure-pdb/
 */
export class ControllerDisruptionBudget extends Construct {
  constructor(scope: Construct, id: string, props: NamespacedProps = {}) {
    super(scope, id);
    new k8s.KubePodDisruptionBudget(this, "Resource", {
      metadata: { name: controllerName, namespace: props.namespace ?? defaultNamespace, labels: controllerLabels },
      spec: {
        // Not minAvailable: with a single replica nothing could be drained.
        maxUnavailable: k8s.IntOrString.fromNumber(1),
        // A controller that does not get ready holds up no drain.
        unhealthyPodEvictionPolicy: "AlwaysAllow",
        selector: { matchLabels: controllerLabels },
      },
    });
  }
}
