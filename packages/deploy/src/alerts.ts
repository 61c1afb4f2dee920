// The Prometheus alerts, each with its expression and runbook.

/** A condition that needs attention. */
export interface Alert {
  readonly name: string;
  /** PromQL. Metrics have the labels that the Prometheus Operator adds; all sums are by the controllers' namespace. */
  readonly expression: string;
  /** How long it must hold. */
  readonly after: string;
  /** critical pages on-call; warning opens a ticket. */
  readonly severity: "critical" | "warning";
  readonly summary: string;
  readonly description: string;
}

const sum = (vector: string): string => `sum by (namespace) (${vector})`;
const max = (vector: string): string => `max by (namespace) (${vector})`;
const share = (part: string, whole: string): string => `${sum(part)} / ${sum(whole)}`;
const p99 = (histogram: string, range: string): string =>
  `histogram_quantile(0.99, sum by (namespace, le) (rate(${histogram}_bucket[${range}])))`;

/** The increase, including the first occurrence, which creates a new series and which `increase` does not count. */
const grown = (counter: string, range: string): string =>
  sum(`increase(${counter}[${range}]) > 0 or (${counter} unless ${counter} offset ${range})`);

const incompleteRollbacks = 'janus_transaction_phase_transitions_total{from_phase="RollingBack",to_phase="Failed"}';
const apiTrouble = 'janus_api_requests_total{code=~"5..|429|deadline|connection"}';
const renewals = 'janus_lock_operations_total{operation="renew"}';
const failedRenewals = 'janus_lock_operations_total{operation="renew",result!="success"}';

const failedActionSets = 'kanister_action_set_resolutions_total{resolution="failure"}';

const hits = "gitopsreverser_enrich_hits_total";
const misses = "gitopsreverser_enrich_misses_total";

export const alerts: readonly Alert[] = [
  {
    name: "JanusAbsent",
    expression: "absent(janus_build_info)",
    after: "5m",
    severity: "critical",
    summary: "No Janus controller is scraped.",
    description: "Prometheus has no metrics of any controller: it is not running, or it is not scraped.",
  },
  {
    name: "JanusNoLeader",
    expression: `${sum("janus_leader_elected")} == 0`,
    after: "2m",
    severity: "critical",
    summary: "Janus has no leader.",
    description:
      "The controllers in {{ $labels.namespace }} are running, and none of them is the leader: no Transaction is reconciled.",
  },
  {
    name: "JanusSeveralLeaders",
    expression: `${sum("janus_leader_elected")} > 1`,
    after: "2m",
    severity: "critical",
    summary: "Janus has several leaders.",
    description:
      "{{ $value }} controllers in {{ $labels.namespace }} are leaders at the same time, by separate Leases or without leader election.",
  },
  {
    name: "JanusFenceDown",
    expression: `${max("janus_leader_elected == 1 and janus_fence_up == 0")} == 1`,
    after: "10m",
    severity: "warning",
    summary: "Writes of a stale leader would not be rejected.",
    description:
      "The leader in {{ $labels.namespace }} finds that the API server does not reject writes of a former term, or cannot check that.",
  },
  {
    name: "JanusLeaderChanges",
    expression: `${max("increase(janus_leader_changes_total[1h])")} > 4`,
    after: "5m",
    severity: "warning",
    summary: "The leader of Janus changes often.",
    description:
      "The controllers in {{ $labels.namespace }} have changed their leader {{ $value | humanize }} times in an hour.",
  },
  {
    name: "JanusRollbackFailed",
    expression: `${grown(incompleteRollbacks, "15m")} > 0`,
    after: "0m",
    severity: "critical",
    summary: "The rollback of a Transaction is incomplete.",
    description:
      "A Transaction is Failed with changes that could not be rolled back: some of its targets are modified, others are restored.",
  },
  {
    name: "JanusTransactionsStuck",
    expression:
      `${sum('janus_transactions_active{phase=~"Committing|RollingBack"}')} > 0 ` +
      `unless ${sum("increase(janus_transaction_phase_transitions_total[15m])")} > 0`,
    after: "45m",
    severity: "warning",
    summary: "Active Transactions make no progress.",
    description: "{{ $value }} Transactions have applied changes, and none has made progress for an hour.",
  },
  {
    name: "JanusLockWaitLong",
    expression: `${p99("janus_lock_wait_seconds", "15m")} > 300`,
    after: "15m",
    severity: "warning",
    summary: "Transactions wait long for locks.",
    description: "One in a hundred Transactions waits longer than {{ $value | humanizeDuration }} for its locks.",
  },
  {
    name: "JanusLockRenewalsFail",
    expression: `${share(`rate(${failedRenewals}[5m])`, `rate(${renewals}[5m])`)} > 0.1`,
    after: "5m",
    severity: "critical",
    summary: "Locks cannot be renewed.",
    description:
      "{{ $value | humanizePercentage }} of the renewals of locks fail. A Transaction whose lock is lost is rolled back.",
  },
  {
    name: "JanusQueueWaitLong",
    expression: `${p99("janus_queue_wait_seconds", "10m")} > 30`,
    after: "10m",
    severity: "warning",
    summary: "Transactions wait long for the controller.",
    description:
      "One in a hundred steps waits longer than {{ $value | humanizeDuration }} for a worker: there is more work than one controller can do.",
  },
  {
    name: "JanusApiServerErrors",
    expression: `${share(`rate(${apiTrouble}[10m])`, "rate(janus_api_requests_total[10m])")} > 0.1`,
    after: "10m",
    severity: "warning",
    summary: "Requests of Janus to the API server fail.",
    description: "{{ $value | humanizePercentage }} of the controller's requests get no answer, a 5xx or a 429.",
  },
  {
    name: "JanusBlueprintsNoLeader",
    expression: `${sum("janus_blueprints_leader_elected")} == 0`,
    after: "2m",
    severity: "critical",
    summary: "The Blueprint controller has no leader.",
    description:
      "The Blueprint controllers in {{ $labels.namespace }} are running, and none of them is the leader: no ActionSet is executed.",
  },
  {
    name: "JanusActionSetFailed",
    expression: `${grown(failedActionSets, "15m")} > 0`,
    after: "0m",
    severity: "warning",
    summary: "An ActionSet has failed.",
    description:
      "{{ $value | humanize }} ActionSets of the controller in {{ $labels.namespace }} have failed in 15 minutes: a backup that was wanted may be missing.",
  },
  {
    name: "JanusActionSetsRunLong",
    expression:
      `${sum('janus_actionsets{state="running"}')} > 0 ` +
      `unless ${sum("increase(janus_actionset_phase_duration_seconds_count[1h])")} > 0`,
    after: "5h",
    severity: "warning",
    summary: "ActionSets run for long.",
    description: "{{ $value }} ActionSets are running, and none of their phases has ended for six hours.",
  },
  {
    name: "JanusActionSetsPending",
    expression: `${sum('janus_actionsets{state="pending"}')} > 0`,
    after: "1h",
    severity: "warning",
    summary: "ActionSets wait for long until they begin.",
    description: "For an hour there have been ActionSets that have not begun; now there are {{ $value }}.",
  },
  {
    name: "JanusGitNoLeader",
    expression: `${sum("janus_git_journal_leader_elected")} == 0`,
    after: "2m",
    severity: "critical",
    summary: "The Git journal has no leader.",
    description:
      "The controllers of the Git journal in {{ $labels.namespace }} are running, and none of them is the leader: nothing is written to Git.",
  },
  {
    name: "JanusGitNotPushed",
    expression: `${max("janus_git_oldest_pending_seconds")} > 300`,
    after: "1m",
    severity: "critical",
    summary: "Changes of the cluster do not get into Git.",
    description:
      "The oldest change that the Git journal in {{ $labels.namespace }} has not pushed has waited {{ $value | humanizeDuration }}.",
  },
  {
    name: "JanusGitAuthorsUnknown",
    expression: `${sum(`increase(${misses}[1h])`)} / (${sum(`increase(${hits}[1h])`)} + ${sum(`increase(${misses}[1h])`)}) > 0.05`,
    after: "15m",
    severity: "warning",
    summary: "Commits of the Git journal have no author.",
    description: "The authors of {{ $value | humanizePercentage }} of the changes are unknown.",
  },
  {
    name: "JanusGitListIncomplete",
    expression: `${sum('janus_git_not_ready{reason="ListIncomplete"}')} > 0`,
    after: "15m",
    severity: "warning",
    summary: "The Git journal cannot list what is selected.",
    description:
      "{{ $value }} destinations lack resources that the Git journal in {{ $labels.namespace }} cannot list.",
  },
  {
    name: "JanusGitStalled",
    expression: `${sum('janus_git_not_ready{stalled="true"}')} > 0`,
    after: "15m",
    severity: "warning",
    summary: "Objects of the Git journal need a change.",
    description:
      "{{ $value }} objects of the Git journal in {{ $labels.namespace }} are not Ready, and stay so until somebody changes something.",
  },
];
