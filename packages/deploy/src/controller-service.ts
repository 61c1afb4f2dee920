// The Service that routes to the leader.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { httpPort } from "./defaults.ts";
import { controllerLabels, leaderLabel } from "./labels.ts";
import type { LeaderElectionProps } from "./leader-election.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { marksLeader, type ReadinessProps } from "./readiness.ts";

export interface ControllerServiceProps extends NamespacedProps, ReadinessProps, LeaderElectionProps {}

/**
 * Routes to the leader alone: by its label if all Pods are ready, otherwise because it alone is ready.
 *
 * Assumes: `readiness` and `leaderElection` are those of the Deployment.
 */
export class ControllerService extends Construct {
  constructor(scope: Construct, id: string, props: ControllerServiceProps = {}) {
    super(scope, id);
    new k8s.KubeService(this, "Resource", {
      metadata: { name: CONTROLLER_NAME, namespace: props.namespace ?? SYSTEM_NAMESPACE, labels: controllerLabels },
      spec: {
        selector: marksLeader(props) ? { ...controllerLabels, ...leaderLabel } : controllerLabels,
        ports: [{ name: "http", port: httpPort, targetPort: k8s.IntOrString.fromString("http") }],
      },
    });
  }
}
