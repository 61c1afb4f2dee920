// The ClusterRole that allows reading protected metrics.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerLabels } from "./labels.ts";

/** Allows reading the metrics with `metricsAuth`: bind the ServiceAccount of your Prometheus to it. */
export class MetricsReaderRole extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new k8s.KubeClusterRole(this, "Resource", {
      metadata: { name: "janus-metrics-reader", labels: controllerLabels },
      rules: [{ nonResourceUrLs: ["/metrics"], verbs: ["get"] }],
    });
  }
}
