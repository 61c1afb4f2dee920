import { MAX_CHANGES } from "./limits.ts";
import { described, format, integer, oneOf, optional, orElse, string, type TypeOf } from "./codec.ts";
import { text } from "./text.ts";
import { Item } from "./item.ts";
import { FORMAT } from "./later.ts";
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

/** A ConfigMap or Secret that keeps what was there before. Trusted only under the uid and digest recorded here. */
export const SnapshotStore = object({
  kind: described("ConfigMap, or Secret where it keeps Secrets.", oneOf("ConfigMap", "Secret")),
  name: described("Name of the store, in the Transaction's namespace.", name),
  uid: described("uid of the store.", name),
  digest: described(
    "Digest of the data in the store; a store with other data is not trusted.",
    string({ maxLength: 256 }),
  ),
});
export interface SnapshotStore extends TypeOf<typeof SnapshotStore> {}

/** https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties */
export const Condition = object({
  type: described(
    "Prepared, Committed, RolledBack, Failed, Ready or Stalled.",
    string({ minLength: 1, maxLength: 316 }),
  ),
  status: described("True, False or Unknown.", oneOf("True", "False", "Unknown")),
  reason: described("Machine-readable reason, in CamelCase.", string({ minLength: 1, maxLength: 1024 })),
  message: described("Human-readable message.", text(2048)),
  lastTransitionTime: described("When the status of this condition last changed.", time),
  observedGeneration: optional(described("metadata.generation that the condition was set for.", integer)),
});
export interface Condition extends TypeOf<typeof Condition> {}

/** What has become of a Transaction, as the controller recorded it. */
export const Status = object({
  formatVersion: optional(
    described(
      "Format of this status, the journal and the snapshots; absent: 1. A controller does not modify a Transaction in a later format than it knows.",
      format(FORMAT),
    ),
  ),
  phase: orElse(
    "Pending",
    described(
      "Pending, Preparing, Prepared, Committing, then Committed. After a failure RollingBack, then RolledBack, or Failed when something could not be rolled back. A failure before the first change: Failed, with no changes applied.",
      Phase,
    ),
  ),
  version: orElse(0, described("Grows by one with every status write.", integer)),
  observedGeneration: optional(
    described("metadata.generation observed by the controller; -1 before it has seen the Transaction.", integer),
  ),
  startedAt: optional(described("When the controller began.", time)),
  completedAt: optional(described("When a terminal phase was reached: Committed, RolledBack or Failed.", time)),
  progress: optional(described("Number of applied changes, of all: 2/3.", string({ maxLength: 64 }))),
  rollbackRef: optional(described("Name of the first snapshot store.", name)),
  journal: optional(
    described(
      "The ConfigMap that records every step while changes are applied.",
      object({ name: described("Name of the journal.", name), uid: described("uid of the journal.", name) }),
    ),
  ),
  recovery: optional(
    described("Retries of an incomplete rollback.", object({ attempts: described("How many there were.", integer) })),
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
      "Prepared, Committed, RolledBack, Failed, and Ready and Stalled as kstatus reads them.",
      list(Condition, { keyedBy: "type" }),
    ),
  ),
});
export interface Status extends TypeOf<typeof Status> {}

/**
 * Of a Transaction that nobody has looked at yet. Generation -1 was never observed: without it, kstatus takes an object without
 * conditions for one that is done, and whoever waits goes on before the controller has seen the Transaction.
 */
export const emptyStatus: Status = {
  phase: "Pending",
  version: 0,
  observedGeneration: -1,
  snapshots: [],
  items: [],
  conditions: [],
};
