// The codec of status: phases, conditions, progress, and references to the journal and the snapshots.
import { MAX_CHANGES } from "./limits.ts";
import { described, format, integer, oneOf, optional, orElse, string, type TypeOf } from "./codec.ts";
import { text } from "./text.ts";
import { Item } from "./item.ts";
import { FORMAT } from "./later.ts";
import { Digest, ObservedDraft, Render } from "./render.ts";
import { list, object } from "./structure.ts";

export const PHASES = [
  "Pending",
  "Preparing",
  "Prepared",
  "Committing",
  "Committed",
  "RollingBack",
  "RolledBack",
  "Failed",
] as const;
export const Phase = oneOf(...PHASES);
export type Phase = TypeOf<typeof Phase>;

const name = string({ maxLength: 253 });
const time = string({ maxLength: 64 });

/** A ConfigMap or Secret with snapshots of the previous state. Trusted only with the uid and digest recorded here. */
export const SnapshotStore = object({
  kind: described("ConfigMap, or Secret for snapshots of Secrets.", oneOf("ConfigMap", "Secret")),
  name: described("Name of the store, in the Transaction's namespace.", name),
  uid: described("uid of the store.", name),
  digest: described(
    "Digest of the data in the store; a store with other data is not trusted.",
    string({ maxLength: 256 }),
  ),
});
export interface SnapshotStore extends TypeOf<typeof SnapshotStore> {}

/** A ConfigMap or Secret with contents of changes (`contentFrom`). Used only with the uid and digest recorded here. */
export const ContentsObject = object({
  kind: described("ConfigMap or Secret.", oneOf("ConfigMap", "Secret")),
  name: described("Its name, in the Transaction's namespace.", name),
  uid: described("Its uid.", name),
  digest: described("Digest of its data.", Digest),
});
export interface ContentsObject extends TypeOf<typeof ContentsObject> {}

/** https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties */
export const Condition = object({
  type: described(
    "Prepared, Committed, RolledBack, Failed, Reversible, Healthy, ApprovalStale, Ready or Stalled.",
    string({ minLength: 1, maxLength: 316 }),
  ),
  status: described("True, False or Unknown.", oneOf("True", "False", "Unknown")),
  reason: described("Machine-readable reason, in CamelCase.", string({ minLength: 1, maxLength: 1024 })),
  message: described("Human-readable message.", text(2048)),
  lastTransitionTime: described("When the status of this condition last changed.", time),
  observedGeneration: optional(described("metadata.generation that the condition was set for.", integer)),
});
export interface Condition extends TypeOf<typeof Condition> {}

/** The status of a Transaction, as the controller recorded it. */
export const Status = object({
  formatVersion: optional(
    described(
      "Format of this status, the journal and the snapshots; absent: 1. A controller does not modify a Transaction in a later format than it supports.",
      format(FORMAT),
    ),
  ),
  phase: orElse(
    "Pending",
    described(
      "Pending, Preparing, Committing, then Committed. (Prepared, between them, is of earlier versions.) After a failure, or on request, RollingBack, then RolledBack, or Failed if a change could not be rolled back. A failure before the first change: Failed, with no changes applied.",
      Phase,
    ),
  ),
  version: orElse(0, described("Incremented by one with every status write.", integer)),
  observedGeneration: optional(
    described("metadata.generation observed by the controller; -1 before the first observation.", integer),
  ),
  requestedBy: optional(described("Which user created the Transaction, if that is known.", text(256))),
  approvedBy: optional(
    described("Which user published a Draft or a proposed Transaction, if that is known.", text(256)),
  ),
  observedDraft: optional(
    described("What was last observed of a Transaction that was not published yet.", ObservedDraft),
  ),
  render: optional(
    described("What a Draft or a proposed Transaction would do, by dry runs as its ServiceAccount.", Render),
  ),
  startedAt: optional(described("When the controller started to process the Transaction.", time)),
  completedAt: optional(described("When a terminal phase was reached: Committed, RolledBack or Failed.", time)),
  reversibleUntil: optional(
    described(
      "Until when this Committed Transaction can, or could, be rolled back on request. Recorded once its locks are released.",
      time,
    ),
  ),
  progress: optional(
    described(
      "Number of applied changes whose gates are met, and of all changes, such as 2/3.",
      string({ maxLength: 64 }),
    ),
  ),
  rollbackRef: optional(described("Name of the first snapshot store.", name)),
  journal: optional(
    described(
      "The ConfigMap that records every step while changes are applied or rolled back.",
      object({ name: described("Name of the journal.", name), uid: described("uid of the journal.", name) }),
    ),
  ),
  recovery: optional(
    described(
      "Retries of an incomplete rollback.",
      object({ attempts: described("Number of automatic retries so far; 5 also if none is to follow.", integer) }),
    ),
  ),
  contents: optional(
    described(
      "ConfigMaps and Secrets that have the contents of changes (contentFrom), as they were when the Transaction was accepted. If one is another object later, or has other data, no further change is applied.",
      list(ContentsObject, { atomic: true }, { maxItems: MAX_CHANGES }),
    ),
  ),
  snapshots: orElse(
    [],
    described("Stores of the snapshots taken before the first change.", list(SnapshotStore, { atomic: true })),
  ),
  items: orElse(
    [],
    described(
      "Status of each change, in the order of spec.changes.",
      list(Item, { atomic: true }, { maxItems: MAX_CHANGES }),
    ),
  ),
  conditions: orElse(
    [],
    described(
      "Prepared, Committed, RolledBack, Failed, Reversible of a Transaction with a rollbackWindow that was Committed, Healthy after a rollback with rollbackWaitFor, ApprovalStale if it would have done something else than what was approved, and Ready and Stalled for kstatus.",
      list(Condition, { keyedBy: "type" }),
    ),
  ),
});
export interface Status extends TypeOf<typeof Status> {}

/**
 * The status of a Transaction that no controller has observed yet. Without the observed generation -1, kstatus would treat an
 * object without conditions as current, and clients would stop waiting before the controller has observed the Transaction.
 */
export const emptyStatus: Status = {
  phase: "Pending",
  version: 0,
  observedGeneration: -1,
  snapshots: [],
  items: [],
  conditions: [],
};
