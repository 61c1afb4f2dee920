// The metrics of the Git journal. They are raised when something has happened, and not when it is planned.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PlannedCommit } from "../core/batch.ts";
import { type BranchState, writable } from "../core/branch-state.ts";
import { pendingOf } from "../core/branch-step.ts";
import type { Outcome } from "../core/git/cycle.ts";
import type { NotReady } from "../core/readiness.ts";

/** The buckets of push durations, in s. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export interface JournalMetrics {
  readonly registry: Registry;
  readonly scanned: () => void;
  readonly outcome: (outcome: Outcome, commits: readonly PlannedCommit[]) => void;
  /** Told how long a push has lasted, in s. */
  readonly pushLasted: (seconds: number) => void;
  readonly leaseNotAcquired: () => void;
  readonly discoveryFailed: () => void;
  readonly ownershipConflict: () => void;
  /** Counts folders whose marker is found to be another's for the first time. */
  readonly conflicts: (before: BranchState, after: BranchState) => void;
}

interface Live {
  readonly states: () => Iterable<BranchState>;
  readonly notReady: () => readonly NotReady[];
  readonly now: () => number;
}

const anothers = (state: BranchState): ReadonlySet<string> =>
  new Set([...state.destinations].flatMap(([name, { ownership }]) => (ownership?.type === "anothers" ? [name] : [])));

const oldestPending = (state: BranchState): number => {
  const { history, toCompare } = state;
  return writable(state).length === 0
    ? Number.POSITIVE_INFINITY
    : history.touches.reduce((oldest, { at }) => Math.min(oldest, at), toCompare?.since ?? Number.POSITIVE_INFINITY);
};

export const journalMetrics = ({ states, notReady, now }: Live): JournalMetrics => {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string): Counter =>
    new Counter({ name: `gitopsreverser_${name}`, help, registers });
  const scanned = counter("objects_scanned_total", "Objects that were listed, or shown by a watch.");
  const written = counter("objects_written_total", "Files of objects that were pushed.");
  const deleted = counter("files_deleted_total", "Files whose deletion was pushed.");
  const commits = counter("commits_total", "Commits that were pushed.");
  const bytes = counter("commit_bytes_total", "Bytes of the files in commits that were pushed.");
  const retries = counter("rebase_retries_total", "Pushes that were made again, since others had pushed before.");
  const ownership = counter("ownership_conflicts_total", "Destinations with the folder of an older one.");
  const lease = counter("lease_acquire_failures_total", "Leases of branches that another controller held.");
  const markers = counter("marker_conflicts_total", "Folders whose marker is that of another destination or cluster.");
  const discovery = counter("discovery_errors_total", "Requests for what the API server serves that failed.");
  const duration = new Histogram({
    name: "janus_git_push_duration_seconds",
    help: "How long the git processes of pushes have lasted.",
    buckets: BUCKETS,
    registers,
  });
  const gauge = (name: string, help: string, value: (all: readonly BranchState[]) => number): void =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(value([...states()]));
        },
      }),
    );
  gauge(
    "gitopsreverser_repo_branch_active_workers",
    "Branches whose Lease this controller holds.",
    (all) => all.filter((state) => state.lease === "held").length,
  );
  gauge("gitopsreverser_repo_branch_queue_depth", "Files that differ from what is live, of all branches.", (all) =>
    all.reduce((sum, state) => sum + pendingOf(state), 0),
  );
  gauge("janus_git_oldest_pending_seconds", "How long the oldest change waits that is not pushed.", (all) => {
    const oldest = Math.min(...all.map(oldestPending));
    return Number.isFinite(oldest) ? Math.max(0, (now() - oldest) / 1000) : 0;
  });
  registry.registerMetric(
    new Gauge({
      name: "janus_git_not_ready",
      help: "Objects of the four kinds that are not Ready. Stalled ones stay so until somebody changes something.",
      labelNames: ["kind", "reason", "stalled"],
      registers: [],
      collect() {
        this.reset();
        for (const { count, stalled, ...labels } of notReady()) this.set({ ...labels, stalled: `${stalled}` }, count);
      },
    }),
  );

  return {
    registry,
    scanned: () => scanned.inc(),
    outcome: (outcome, planned) => {
      retries.inc(outcome.replays);
      if (outcome.is !== "pushed") return;
      const files = planned.flatMap((commit) => commit.files);
      commits.inc(outcome.commits.length);
      written.inc(files.filter(({ version }) => version !== undefined).length);
      deleted.inc(files.filter(({ version }) => version === undefined).length);
      bytes.inc(files.reduce((sum, { version }) => sum + (version?.bytes ?? 0), 0));
    },
    pushLasted: (seconds) => duration.observe(seconds),
    leaseNotAcquired: () => lease.inc(),
    discoveryFailed: () => discovery.inc(),
    ownershipConflict: () => ownership.inc(),
    conflicts: (before, after) => {
      if (before.destinations === after.destinations) return;
      const former = anothers(before);
      for (const name of anothers(after)) if (!former.has(name)) markers.inc();
    },
  };
};
