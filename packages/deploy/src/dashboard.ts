// The Grafana dashboard, as data.

/** A panel: its queries, each with its legend. */
interface Chart {
  readonly title: string;
  /** What is drawn, and which value calls for a look; Grafana shows it at the title. */
  readonly about: string;
  readonly kind: "timeseries" | "stat";
  /** The unit in Grafana: s, ops, short, percentunit. */
  readonly unit: string;
  readonly lines: readonly (readonly [legend: string, expression: string])[];
}

const here = 'namespace="$namespace"';

/** A metric of the chosen namespace, with these other labels. */
const of = (metric: string, ...labels: readonly string[]): string => `${metric}{${[here, ...labels].join(",")}}`;
const rate = (metric: string, ...labels: readonly string[]): string =>
  `rate(${of(metric, ...labels)}[$__rate_interval])`;
const quantile = (q: number, histogram: string, by = ""): string =>
  `histogram_quantile(${q}, sum by (le${by === "" ? "" : `, ${by}`}) (${rate(`${histogram}_bucket`)}))`;

const p50AndP99 = (histogram: string): Chart["lines"] => [
  ["p50", quantile(0.5, histogram)],
  ["p99", quantile(0.99, histogram)],
];

const charts: readonly Chart[] = [
  {
    title: "Leaders",
    about:
      "Controllers that lead. It is 1; for a moment 0 when the leader changes. 0 for longer: no Transaction is executed.",
    kind: "stat",
    unit: "short",
    lines: [["", `sum(${of("janus_leader_elected")})`]],
  },
  {
    title: "Fence",
    about:
      "1: writes of a leader whose term is over are rejected by the API server. 0: the fence is not in force, see docs/leader-election.md.",
    kind: "stat",
    unit: "short",
    lines: [["", `max(${of("janus_fence_up")})`]],
  },
  {
    title: "Active, with changes applied",
    about: "Transactions whose targets are partly changed, and are locked until they are done.",
    kind: "stat",
    unit: "short",
    lines: [["", `sum(${of("janus_transactions_active", 'phase=~"Committing|RollingBack"')})`]],
  },
  {
    title: "Versions",
    about: "Running controllers by version. Two versions are normal during an update only.",
    kind: "stat",
    unit: "short",
    lines: [["{{version}}", `count by (version) (${of("janus_build_info")})`]],
  },
  {
    title: "Transactions by phase",
    about:
      "Active Transactions by phase. A phase that only grows shows what they wait for: locks, gates, or a controller.",
    kind: "timeseries",
    unit: "short",
    lines: [["{{phase}}", `sum by (phase) (${of("janus_transactions_active")})`]],
  },
  {
    title: "Outcomes",
    about: "Transactions that ended, per second. Failed: something may not be rolled back, look at these first.",
    kind: "timeseries",
    unit: "ops",
    lines: [
      [
        "{{to_phase}}",
        `sum by (to_phase) (${rate("janus_transaction_phase_transitions_total", 'to_phase=~"Committed|RolledBack|Failed"')})`,
      ],
    ],
  },
  {
    title: "From start to end",
    about: "How long Transactions took, gates and waits for locks included.",
    kind: "timeseries",
    unit: "s",
    lines: p50AndP99("janus_transaction_duration_seconds"),
  },
  {
    title: "Changes in a Transaction",
    about: "How many changes the Transactions that ended had.",
    kind: "timeseries",
    unit: "short",
    lines: p50AndP99("janus_transaction_item_count"),
  },
  {
    title: "Dry runs, changes and restores",
    about: "Operations on targets per second, by result. Restores are rollbacks.",
    kind: "timeseries",
    unit: "ops",
    lines: [["{{operation}} {{result}}", `sum by (operation, result) (${rate("janus_item_operations_total")})`]],
  },
  {
    title: "Not restored: modified by another client",
    about:
      "Fields that a rollback left alone, because another client had modified them: these Transactions are Failed.",
    kind: "timeseries",
    unit: "short",
    lines: [["conflicts", `sum(increase(${of("janus_rollback_conflicts_total")}[$__rate_interval]))`]],
  },
  {
    title: "Locks",
    about: "Locks that were acquired, renewed, released or lost, per second. Lost ones stop a Transaction.",
    kind: "timeseries",
    unit: "ops",
    lines: [["{{operation}} {{result}}", `sum by (operation, result) (${rate("janus_lock_operations_total")})`]],
  },
  {
    title: "Waiting for locks",
    about: "How long Transactions waited until they had all locks. Long waits: several want the same targets.",
    kind: "timeseries",
    unit: "s",
    lines: p50AndP99("janus_lock_wait_seconds"),
  },
  {
    title: "Queue",
    about:
      "Transactions that wait for a worker of the controller. A queue that does not get empty: raise --max-concurrent-reconciles.",
    kind: "timeseries",
    unit: "short",
    lines: [["waiting", `sum(${of("janus_queue_depth")})`]],
  },
  {
    title: "Waiting for a worker",
    about: "How long a Transaction waited until a worker of the controller took it up.",
    kind: "timeseries",
    unit: "s",
    lines: p50AndP99("janus_queue_wait_seconds"),
  },
  {
    title: "Requests to the API server",
    about: "Requests of the controllers per second, by verb and status code. Many 429: the API server throttles them.",
    kind: "timeseries",
    unit: "ops",
    lines: [["{{verb}} {{code}}", `sum by (verb, code) (${rate("janus_api_requests_total")})`]],
  },
  {
    title: "Answers of the API server, p99",
    about:
      "How long the slowest hundredth of answers took, by verb. Beyond a second, changes and renewals of locks are late.",
    kind: "timeseries",
    unit: "s",
    lines: [["{{verb}}", quantile(0.99, "janus_api_request_duration_seconds", "verb")]],
  },
  {
    title: "Changes of the leader",
    about: "How often another controller took over. Without updates and drains it is 0.",
    kind: "timeseries",
    unit: "short",
    lines: [["changes", `max(increase(${of("janus_leader_changes_total")}[$__rate_interval]))`]],
  },
  {
    title: "ActionSets by state",
    about:
      "Pending and running ActionSets. Pending ones that stay: too many run at once, or their objects cannot be read.",
    kind: "timeseries",
    unit: "short",
    lines: [["{{state}}", `sum by (state) (${of("janus_actionsets", 'state=~"pending|running"')})`]],
  },
  {
    title: "Ends of ActionSets",
    about: "ActionSets that ended, per second. Failure: a backup that was wanted may be missing, look at these first.",
    kind: "timeseries",
    unit: "ops",
    lines: [["{{resolution}}", `sum by (resolution) (${rate("kanister_action_set_resolutions_total")})`]],
  },
  {
    title: "Actions, from start to end, p99",
    about: "How long the slowest hundredth of ActionSets took, by the known names of their actions.",
    kind: "timeseries",
    unit: "s",
    lines: [["{{action}}", quantile(0.99, "janus_actionset_duration_seconds", "action")]],
  },
  {
    title: "Phases, from start to end, p99",
    about: "How long the slowest hundredth of phases took, by function, waits for their Pods included.",
    kind: "timeseries",
    unit: "s",
    lines: [["{{function}}", quantile(0.99, "janus_actionset_phase_duration_seconds", "function")]],
  },
  {
    title: "Git: oldest change that is not pushed",
    about:
      "How long the oldest change has waited to get into Git. Beyond a minute: a server does not answer, or refuses the push.",
    kind: "timeseries",
    unit: "s",
    lines: [["oldest", `max(${of("janus_git_oldest_pending_seconds")})`]],
  },
  {
    title: "Git: commits and files",
    about: "Commits that were pushed, and files in them, per second.",
    kind: "timeseries",
    unit: "ops",
    lines: [
      ["commits", `sum(${rate("gitopsreverser_commits_total")})`],
      ["files written", `sum(${rate("gitopsreverser_objects_written_total")})`],
      ["files deleted", `sum(${rate("gitopsreverser_files_deleted_total")})`],
    ],
  },
  {
    title: "Git: changes without an author",
    about: "Changes whose author is not known, per second, by reason. Many: the webhook does not reach the leader.",
    kind: "timeseries",
    unit: "ops",
    lines: [["{{reason}}", `sum by (reason) (${rate("janus_git_misses_total")})`]],
  },
  {
    title: "Git: pushes",
    about: "How long pushes took, until the server had answered.",
    kind: "timeseries",
    unit: "s",
    lines: p50AndP99("janus_git_push_duration_seconds"),
  },
];

/** Every query, with Grafana's variables in it. */
export const drawn: readonly string[] = charts.flatMap(({ lines }) => lines.map(([, expression]) => expression));

const datasource = { type: "prometheus", uid: "${datasource}" };

/** Grafana has 24 columns: four stats in a row, then two charts in a row. */
const place = (index: number): object => {
  const stats = charts.filter(({ kind }) => kind === "stat").length;
  if (index < stats) return { h: 4, w: 24 / stats, x: (index * 24) / stats, y: 0 };
  const at = index - stats;
  return { h: 8, w: 12, x: (at % 2) * 12, y: 4 + Math.floor(at / 2) * 8 };
};

const panel = ({ title, about, kind, unit, lines }: Chart, index: number): object => ({
  id: index + 1,
  type: kind,
  title,
  description: about,
  datasource,
  gridPos: place(index),
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: lines.map(([legendFormat, expr], line) => ({
    refId: String.fromCodePoint("A".codePointAt(0) ?? 0) + (line === 0 ? "" : line),
    datasource,
    expr,
    legendFormat,
  })),
});

/**
 * The dashboard as Grafana imports it.
 *
 * Source: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
 */
export const dashboard = {
  uid: "janus",
  title: "Janus",
  tags: ["janus", "kubernetes"],
  schemaVersion: 39,
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
      {
        name: "namespace",
        type: "query",
        label: "Namespace of the controllers",
        datasource,
        query: { query: "label_values(janus_build_info, namespace)", refId: "namespaces" },
        refresh: 2,
      },
    ],
  },
  panels: charts.map(panel),
};
