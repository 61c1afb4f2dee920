// The headless Service through which Prometheus finds every controller.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { httpPort } from "./defaults.ts";
import { BLUEPRINTS_NAME } from "./blueprints-props.ts";
import { blueprintsLabels, controllerLabels, metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface MetricsServiceProps extends NamespacedProps {
  /**
   * The controllers that are found: those of Transactions, or those of Blueprints.
   * @default "controller"
   */
  readonly component?: "controller" | "blueprints";
}

/** A headless Service with which Prometheus finds every controller, also standbys and those that are not ready. */
export class MetricsService extends Construct {
  constructor(scope: Construct, id: string, props: MetricsServiceProps = {}) {
    super(scope, id);
    const [name, selector] =
      props.component === "blueprints" ? [BLUEPRINTS_NAME, blueprintsLabels] : [CONTROLLER_NAME, controllerLabels];
    new k8s.KubeService(this, "Resource", {
      metadata: {
        name: `${name}-metrics`,
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: metricsLabels,
      },
      spec: {
        clusterIp: "None",
        publishNotReadyAddresses: true,
        selector,
        ports: [{ name: "http", port: httpPort, targetPort: k8s.IntOrString.fromString("http") }],
      },
    });
  }
}
