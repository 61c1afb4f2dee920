// Builds the events that report who has requested, edited, proposed, rejected or approved a Transaction.
import {
  APPROVED_BY,
  cut,
  LAST_EDITED_BY,
  LIFECYCLE_CHANGED_BY,
  REJECTION_REASON,
  REQUESTED_BY,
  type Transaction,
} from "@janus/api";
import type { EventSpec } from "./effect.ts";

/** How many bytes of a name or a reason an event contains. */
const MAX_MESSAGE = 256;

/** The deeds of users on a Transaction before it is executed, as reasons of events. */
export type Deed = "Requested" | "Edited" | "Proposed" | "Rejected" | "Approved";

const deeds = (txn: Transaction, contentOf: (txn: Transaction) => string): readonly Deed[] => {
  const { metadata, spec, status } = txn;
  const { lifecycle } = spec;
  const { observedDraft: last } = status;
  const { annotations = {} } = metadata;
  if (last === undefined) {
    // The creation of one that was never a Draft is reported only if its user is known.
    if (lifecycle === "Published")
      return [
        ...(annotations[REQUESTED_BY] === undefined ? [] : (["Requested"] as const)),
        ...(annotations[APPROVED_BY] === undefined ? [] : (["Approved"] as const)),
      ];
    return lifecycle === "Proposed" ? ["Requested", "Proposed"] : ["Requested"];
  }
  if (last.generation === metadata.generation) return [];
  const edited: readonly Deed[] = last.content === contentOf(txn) ? [] : ["Edited"];
  // Several moves may have been made since: the last one is reported, and that there was an edit.
  switch (lifecycle) {
    case "Draft":
      return last.lifecycle === "Draft" ? ["Edited"] : ["Rejected", ...edited];
    case "Proposed":
      return [...edited, "Proposed"];
    case "Published":
      return [...edited, "Approved"];
  }
};

const WHO: Readonly<Record<Deed, string>> = {
  Requested: REQUESTED_BY,
  Edited: LAST_EDITED_BY,
  Proposed: LIFECYCLE_CHANGED_BY,
  Rejected: LIFECYCLE_CHANGED_BY,
  Approved: APPROVED_BY,
};

const WORDS: Readonly<Record<Deed, string>> = {
  Requested: "requested",
  Edited: "edited",
  Proposed: "proposed",
  Rejected: "set back to Draft",
  Approved: "approved",
};

/**
 * Events that report who has done what with a Transaction since it was observed last.
 *
 * Guarantees: each step is reported once, if they are recorded together with `status.observedDraft`.
 * Assumes:    annotations are true: admission policies see to that where they are installed.
 *
 * @param contentOf the digest of its spec without the lifecycle
 */
export const audit = (txn: Transaction, contentOf: (txn: Transaction) => string): readonly EventSpec[] => {
  const { annotations = {} } = txn.metadata;
  return deeds(txn, contentOf).map((deed) => {
    // Who has created it as Proposed has moved nothing.
    const who =
      annotations[WHO[deed]] ?? (txn.status.observedDraft === undefined ? annotations[REQUESTED_BY] : undefined);
    const by = who === undefined ? "an unknown user" : cut(who, MAX_MESSAGE);
    const why = deed === "Rejected" ? annotations[REJECTION_REASON] : undefined;
    return {
      type: "Normal",
      reason: deed,
      message: `${WORDS[deed]} by ${by}${why === undefined ? "" : `: ${cut(why, MAX_MESSAGE)}`}`,
    };
  });
};

/** Reports that an approved Transaction is executed. */
export const executed = ({ metadata: { annotations = {} }, spec, status }: Transaction): readonly EventSpec[] => {
  const approver = annotations[APPROVED_BY];
  return status.observedDraft === undefined && approver === undefined
    ? []
    : [
        {
          type: "Normal",
          reason: "Executed",
          message: `executed as ServiceAccount ${spec.serviceAccountName}, approved by ${approver === undefined ? "an unknown user" : cut(approver, MAX_MESSAGE)}`,
        },
      ];
};
