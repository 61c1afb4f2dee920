import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { dashboard } from "./dashboard.ts";
import { controllerName, defaultNamespace } from "./defaults.ts";
import { metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

/** The dashboard in a ConfigMap that the sidecar of Grafana's Helm chart finds by its label. Without the sidecar, import the JSON that is in it. */
export class GrafanaDashboard extends Construct {
  constructor(scope: Construct, id: string, props: NamespacedProps = {}) {
    super(scope, id);
    new k8s.KubeConfigMap(this, "Resource", {
      metadata: {
        name: `${controllerName}-dashboard`,
        namespace: props.namespace ?? defaultNamespace,
        labels: { ...metricsLabels, grafana_dashboard: "1" },
      },
      data: { "janus.json": `${JSON.stringify(dashboard, undefined, 2)}\n` },
    });
  }
}
