// Events on Transactions: which reasons are frequent, and which Transactions have no further events.
import { API_VERSION, KIND, type Phase, type Transaction } from "@janus/api";
import type { EventSubjects } from "@janus/runtime/parts";

/** There may be hundreds of these. */
const FREQUENT: readonly string[] = [
  "GateWaiting",
  "GateMet",
  "ItemCommitted",
  "ItemRolledBack",
  "RollbackFailed",
  "RollbackConfigMapMissing",
  "ConflictDetected",
];

/** Final phases, without Failed: its events may be repeated. */
const FINAL: readonly Phase[] = ["Committed", "RolledBack"];

export const TRANSACTION_EVENTS: EventSubjects<Transaction> = {
  apiVersion: API_VERSION,
  kind: KIND,
  frequent: FREQUENT,
  isFinal: ({ status }) => FINAL.includes(status.phase),
};
