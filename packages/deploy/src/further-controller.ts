// Deploys a controller that there is besides that of Transactions: how many Pods, and how many of them a drain may evict.
import { k8s } from "cdk8s-plus-30";
import type { Construct } from "constructs";
import { deploymentSpec } from "./controller-deployment.ts";
import { type ControllerDisruptionBudgetProps, disruptionBudgetSpec } from "./controller-disruption-budget.ts";
import type { ControllerPodProps, OfController } from "./controller-pod.ts";

interface FurtherController extends Omit<OfController, "serviceAccountName"> {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly replicas: number;
  /** Where its replicas are set. */
  readonly settings: string;
}

/**
 * The Deployment, and the PodDisruptionBudget, of a controller whose ServiceAccount has its name.
 *
 * Throws: if it has no replica.
 */
export const furtherController = (
  scope: Construct,
  props: ControllerPodProps & ControllerDisruptionBudgetProps,
  { metadata: { name, namespace }, settings, ...own }: FurtherController,
): void => {
  if (own.replicas < 1)
    throw new Error(
      `${settings}.replicas is ${own.replicas}: to stop the controller for a while, scale its Deployment to 0`,
    );
  const metadata = { name, namespace, labels: own.labels };
  if (props.podDisruptionBudget?.enabled !== false)
    new k8s.KubePodDisruptionBudget(scope, "DisruptionBudget", {
      metadata,
      spec: disruptionBudgetSpec(own.labels, props),
    });
  new k8s.KubeDeployment(scope, "Deployment", {
    metadata,
    spec: deploymentSpec(props, { ...own, serviceAccountName: name }),
  });
};
