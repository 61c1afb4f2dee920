// The construct with ServiceMonitor, alerts and dashboard.
import { Construct } from "constructs";
import { GrafanaDashboard } from "./grafana-dashboard.ts";
import { MetricsService } from "./metrics-service.ts";
import { PrometheusRule, type PrometheusRuleProps } from "./prometheus-rule.ts";
import { ServiceMonitor, type ServiceMonitorProps } from "./service-monitor.ts";

export interface MonitoringProps extends ServiceMonitorProps, PrometheusRuleProps {}

/** ServiceMonitor, alerts and dashboard. Assumes the CRDs of the Prometheus Operator. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps = {}) {
    super(scope, id);
    new MetricsService(this, "Service", props);
    new ServiceMonitor(this, "ServiceMonitor", props);
    new PrometheusRule(this, "Rule", props);
    new GrafanaDashboard(this, "Dashboard", props);
  }
}
