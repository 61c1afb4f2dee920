// The Deployment of a controller: how many, and how they are updated; the construct of that of Transactions.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerFlags, type ControllerFlagsProps } from "./controller-flags.ts";
import { controllerPod, type ControllerPodProps, type OfController } from "./controller-pod.ts";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface ControllerDeploymentProps
  extends NamespacedProps,
    ServiceAccountProps,
    ControllerFlagsProps,
    ControllerPodProps {
  /**
   * Number of controllers, of which one leads; at least 1.
   * @default 2; 1 without leader election
   */
  readonly replicas?: number;
}

const rolling = (maxUnavailable: k8s.IntOrString, maxSurge: k8s.IntOrString): k8s.DeploymentStrategy => ({
  type: "RollingUpdate",
  rollingUpdate: { maxUnavailable, maxSurge },
});

const oneMore = rolling(k8s.IntOrString.fromNumber(0), k8s.IntOrString.fromNumber(1));

/** Deploys the Pods of a controller, whichever it is. */
export const deploymentSpec = (
  props: ControllerPodProps,
  own: OfController & { readonly replicas: number; readonly strategy?: k8s.DeploymentStrategy },
): k8s.DeploymentSpec => ({
  replicas: own.replicas,
  strategy: own.strategy ?? oneMore,
  selector: { matchLabels: own.labels },
  template: controllerPod(props, own),
});

/** An update strategy that completes: if only the leader is ready, it does not wait for the others. */
const strategyOf = ({ readiness, leaderElection }: ControllerDeploymentProps): k8s.DeploymentStrategy => {
  if (leaderElection?.enabled === false) return { type: "Recreate" };
  return readiness === "leader" ? rolling(k8s.IntOrString.fromString("100%"), k8s.IntOrString.fromNumber(0)) : oneMore;
};

const replicasOf = ({ replicas, leaderElection }: ControllerDeploymentProps): number => {
  if (replicas !== undefined && replicas < 1)
    throw new Error(
      `replicas is ${replicas}: without a controller, Transactions are not executed, and those that are active block the deletion of their namespace. To stop it for a while, scale its Deployment to 0.`,
    );
  if (leaderElection?.enabled !== false) return replicas ?? 2;
  if (replicas === undefined || replicas === 1) return 1;
  throw new Error(
    `leaderElection.enabled is false and replicas is ${replicas}: without leader election there can be only one controller. Leave one of the two out.`,
  );
};

/**
 * The controller: two Pods, of which one leads, with the `restricted` Pod Security Standard and a read-only file system.
 *
 * Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
export class ControllerDeployment extends Construct {
  constructor(scope: Construct, id: string, props: ControllerDeploymentProps = {}) {
    super(scope, id);
    new k8s.KubeDeployment(this, "Resource", {
      metadata: { name: CONTROLLER_NAME, namespace: props.namespace ?? SYSTEM_NAMESPACE, labels: controllerLabels },
      spec: deploymentSpec(props, {
        replicas: replicasOf(props),
        strategy: strategyOf(props),
        args: controllerFlags(props),
        namesPod: true,
        serviceAccountName: serviceAccountNameOf(props),
        labels: controllerLabels,
      }),
    });
  }
}
