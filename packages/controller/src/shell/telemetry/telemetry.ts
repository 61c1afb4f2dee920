import type { Transaction } from "@janus/api";
import type { ApiError } from "@janus/kube";
import { type Effect, classify, messageOf, type EventSpec } from "../../core/index.ts";
import { elapsed } from "../process/clock.ts";
import type { Log } from "../process/log.ts";

/** One turn of the loop. */
export interface Round {
  /** Each line names this turn. */
  readonly log: Log;
  /** Called at each sign of life. */
  readonly beat: () => void;
}

/** What the shell tells of its work: to metrics and events. */
export interface Observers {
  readonly answered: (txn: Transaction, effect: Effect, error: ApiError | undefined) => void;
  readonly moved: (from: Transaction, to: Transaction) => void;
  readonly told: (txn: Transaction, event: EventSpec, log: Log) => void;
}

/** Tells of the work to the log, and to the witness. */
export interface Telemetry {
  readonly moved: (round: Round, from: Transaction, to: Transaction) => void;
  readonly tell: (round: Round, txn: Transaction, event: EventSpec) => void;
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
  tell: ({ log }, txn, event) => {
    const { type, reason, message, item } = event;
    const { phase } = txn.status;
    if (reason !== "PhaseTransition")
      log(type === "Warning" ? "warn" : "info", message, { event: reason, phase, item });
    observers.told(txn, event, log);
  },
  answered: ({ log, beat }, txn, effect, began, error) => {
    beat();
    // As itself it asks for nothing that it may not have: somebody stands in its way.
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
