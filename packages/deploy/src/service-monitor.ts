// The ServiceMonitor of the controller.
import { ApiObject } from "cdk8s";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import type { PrometheusLabelsProps } from "./prometheus-labels.ts";

export interface ServiceMonitorProps extends NamespacedProps, PrometheusLabelsProps {
  /**
   * Whether `/metrics` requires authorization. Prometheus then sends the token of its own ServiceAccount, which must be bound to the
   * ClusterRole `janus-metrics-reader`.
   * @default false
   */
  readonly metricsAuth?: boolean;
}

/**
 * Makes the Prometheus Operator scrape every controller.
 *
 * Assumes: the CRDs of the Prometheus Operator, and a {@link MetricsService}.
 * Source:  https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitor
 */
export class ServiceMonitor extends Construct {
  constructor(scope: Construct, id: string, props: ServiceMonitorProps = {}) {
    super(scope, id);
    const token = { bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" };
    new ApiObject(this, "Resource", {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "ServiceMonitor",
      metadata: {
        name: CONTROLLER_NAME,
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: { ...metricsLabels, ...props.prometheusLabels },
      },
      spec: {
        selector: { matchLabels: metricsLabels },
        endpoints: [{ port: "http", path: "/metrics", ...(props.metricsAuth === true ? token : {}) }],
      },
    });
  }
}
