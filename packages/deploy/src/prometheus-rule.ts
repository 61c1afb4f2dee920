// The PrometheusRule with all alerts.
import { ApiObject } from "cdk8s";
import { Construct } from "constructs";
import { type Alert, alerts } from "./alerts.ts";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { documentation } from "./defaults.ts";
import { metricsLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import type { PrometheusLabelsProps } from "./prometheus-labels.ts";

export interface PrometheusRuleProps extends NamespacedProps, PrometheusLabelsProps {
  /**
   * Where the runbooks are, one page `<alert>.md` for each alert.
   * @default "docs/runbooks", their path in this repository
   */
  readonly runbooks?: string;
}

export const defaultRunbooks = `${documentation}/runbooks`;

const ruleOf = (runbooks: string, { name, expression, after, severity, summary, description }: Alert) => ({
  alert: name,
  expr: expression,
  for: after,
  labels: { severity },
  annotations: { summary, description, runbook_url: `${runbooks}/${name}.md` },
});

/**
 * The alerts, each with its runbook.
 *
 * Assumes: the CRDs of the Prometheus Operator.
 * Source:  https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRule
 */
export class PrometheusRule extends Construct {
  constructor(scope: Construct, id: string, props: PrometheusRuleProps = {}) {
    super(scope, id);
    const { runbooks = defaultRunbooks } = props;
    new ApiObject(this, "Resource", {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: {
        name: CONTROLLER_NAME,
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: { ...metricsLabels, ...props.prometheusLabels },
      },
      spec: { groups: [{ name: "janus", rules: alerts.map((alert) => ruleOf(runbooks, alert)) }] },
    });
  }
}
