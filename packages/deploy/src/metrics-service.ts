import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultNamespace, httpPort } from "./defaults.ts";
import { controllerLabels, metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

/** For Prometheus to find every controller, also one that stands by or is not ready. It balances nothing. */
export class MetricsService extends Construct {
  constructor(scope: Construct, id: string, props: NamespacedProps = {}) {
    super(scope, id);
    new k8s.KubeService(this, "Resource", {
      metadata: {
        name: `${controllerName}-metrics`,
        namespace: props.namespace ?? defaultNamespace,
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
