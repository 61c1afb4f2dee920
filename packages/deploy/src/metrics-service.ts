// The headless Service through which Prometheus finds every controller.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { httpPort } from "./defaults.ts";
import { controllerLabels, metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

/** A headless Service with which Prometheus finds every controller, also standbys and those that are not ready. */
export class MetricsService extends Construct {
  constructor(scope: Construct, id: string, props: NamespacedProps = {}) {
    super(scope, id);
    new k8s.KubeService(this, "Resource", {
      metadata: {
        name: `${CONTROLLER_NAME}-metrics`,
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: metricsLabels,
      },
      spec: {
        clusterIp: "None",
        publishNotReadyAddresses: true,
        selector: controllerLabels,
        ports: [{ name: "http", port: httpPort, targetPort: k8s.IntOrString.fromString("http") }],
      },
    });
  }
}
