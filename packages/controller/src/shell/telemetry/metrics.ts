// The metrics of Transactions: phases, durations, items, conflicts and rollbacks.
import { MAX_CHANGES, type Phase, PHASES, type Transaction } from "@janus/api";
import type { ApiError } from "@janus/kube";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type Effect, isTerminal } from "../../core/index.ts";
import { classify } from "@janus/types";
import { wall } from "@janus/runtime/parts";
import { lockMetrics } from "./lock-metrics.ts";

const ITEM_OPERATIONS: Partial<Record<Effect["purpose"], string>> = {
  "dry-run": "preflight",
  change: "commit",
  restore: "rollback",
};

/** The value of `janus_transactions_active`; absent until all Transactions were listed. */
type Active = () => ReadonlyMap<Phase, number> | undefined;

export interface Metrics {
  readonly registry: Registry;
  readonly moved: (from: Transaction, to: Transaction) => void;
  readonly answered: (txn: Transaction, effect: Effect, error: ApiError | undefined) => void;
}

/** A change was not undone because another client had changed its target since, and that was recorded. */
const isConflict = (effect: Effect): boolean =>
  effect.purpose === "checkpoint" && (effect.events ?? []).some(({ reason }) => reason === "ConflictDetected");

/** @param active the number of Transactions in each phase */
export const metrics = (active: Active): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  const transitions = new Counter({
    name: "janus_transaction_phase_transitions_total",
    help: "Phase transitions of Transactions.",
    labelNames: ["from_phase", "to_phase"],
    registers,
  });
  const duration = new Histogram({
    name: "janus_transaction_duration_seconds",
    help: "Time from the start of a Transaction to its terminal phase.",
    labelNames: ["outcome"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800],
    registers,
  });
  const itemCount = new Histogram({
    name: "janus_transaction_item_count",
    help: "Changes in a Transaction.",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, MAX_CHANGES],
    registers,
  });
  const items = new Counter({
    name: "janus_item_operations_total",
    help: "Dry runs, changes and restores of single targets.",
    labelNames: ["operation", "result"],
    registers,
  });
  const conflicts = new Counter({
    name: "janus_rollback_conflicts_total",
    help: "Changes that were not rolled back because another client had modified their targets.",
    registers,
  });
  const locks = lockMetrics(registry);
  registry.registerMetric(
    new Gauge({
      name: "janus_transactions_active",
      help: "Transactions that are not in a terminal phase, by phase.",
      labelNames: ["phase"],
      registers: [],
      collect() {
        const counts = active();
        this.reset();
        if (counts === undefined) return;
        for (const phase of PHASES.filter((phase) => !isTerminal(phase))) this.set({ phase }, counts.get(phase) ?? 0);
      },
    }),
  );

  return {
    registry,
    moved: (from, to) => {
      locks.moved(to);
      const { phase, startedAt } = to.status;
      transitions.inc({ from_phase: from.status.phase, to_phase: phase });
      if (phase === "Preparing") itemCount.observe(to.spec.changes.length);
      // Of one that had ended before, as one that is rolled back on request, it would be the time since then, too.
      if (isTerminal(phase) && startedAt !== undefined && from.status.completedAt === undefined)
        duration.observe({ outcome: phase }, Math.max(0, wall() - Date.parse(startedAt)) / 1000);
    },
    answered: (txn, effect, error) => {
      const { purpose } = effect;
      if (error === undefined && isConflict(effect)) conflicts.inc();
      const result = error === undefined ? "success" : classify(error);
      locks.answered(txn, effect, result);
      const item = ITEM_OPERATIONS[purpose];
      if (item !== undefined) items.inc({ operation: item, result });
    },
  };
};
