// The prop for labels by which Prometheus selects monitors and rules.
export interface PrometheusLabelsProps {
  /**
   * More labels of ServiceMonitor and PrometheusRule: those by which your Prometheus selects them, such as `release: prometheus`.
   * @default none
   */
  readonly prometheusLabels?: Readonly<Record<string, string>>;
}
