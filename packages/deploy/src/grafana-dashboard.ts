// The ConfigMap with the dashboard, for the sidecar of Grafana's Helm chart.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { dashboard } from "./dashboard.ts";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

/** The dashboard in a ConfigMap that the sidecar of Grafana's Helm chart finds by its label. Without the sidecar, import the JSON that is in it. */
export class GrafanaDashboard extends Construct {
  constructor(scope: Construct, id: string, props: NamespacedProps = {}) {
    super(scope, id);
    new k8s.KubeConfigMap(this, "Resource", {
      metadata: {
        name: `${CONTROLLER_NAME}-dashboard`,
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: { ...metricsLabels, grafana_dashboard: "1" },
      },
      data: { "janus.json": `${JSON.stringify(dashboard, undefined, 2)}\n` },
    });
  }
}
