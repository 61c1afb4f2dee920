// Passes what the shell reports to log, metrics and events.
import type { Transaction } from "@janus/api";
import type { ApiError } from "@janus/kube";
import type { Effect, EventSpec } from "../../core/index.ts";
import { classify, messageOf } from "@janus/types";
import { elapsed, type Log, type Round } from "@janus/runtime/parts";

/** Observers of what the shell reports to metrics and events. */
export interface Observers {
  readonly answered: (txn: Transaction, effect: Effect, error: ApiError | undefined) => void;
  readonly moved: (from: Transaction, to: Transaction) => void;
  readonly recordEvent: (txn: Transaction, event: EventSpec, log: Log) => void;
}

/** Reports to the log and to the observers. */
export interface Telemetry {
  readonly moved: (round: Round, from: Transaction, to: Transaction) => void;
  readonly recordEvent: (round: Round, txn: Transaction, event: EventSpec) => void;
  /** @param began when, by {@link elapsed} */
  readonly answered: (round: Round, txn: Transaction, effect: Effect, began: number, error?: ApiError) => void;
}

export const newTelemetry = (observers: Observers): Telemetry => ({
  moved: ({ log }, from, to) => {
    const { phase, conditions } = to.status;
    const because = conditions.find(({ type }) => type === "Ready")?.message;
    log("info", `${from.status.phase} → ${phase}`, { phase, because });
    observers.moved(from, to);
  },
  recordEvent: ({ log }, txn, event) => {
    const { type, reason, message, item } = event;
    const { phase } = txn.status;
    if (reason !== "PhaseTransition")
      log(type === "Warning" ? "warn" : "info", message, { event: reason, phase, item });
    observers.recordEvent(txn, event, log);
  },
  answered: ({ log, heartbeat }, txn, effect, began, error) => {
    heartbeat();
    // The controller has the permissions for its own requests: a rejection needs attention.
    const isHindered =
      error !== undefined && classify(error) === "permanent" && "as" in effect && effect.as === "controller";
    log(isHindered ? "warn" : "debug", effect.purpose, {
      phase: txn.status.phase,
      item: "item" in effect ? effect.item : undefined,
      ms: Math.round(elapsed() - began),
      error: error && messageOf(error),
    });
    observers.answered(txn, effect, error);
  },
});
