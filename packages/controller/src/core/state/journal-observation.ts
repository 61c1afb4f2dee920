// The observation of the journal: read, absent, damaged or refused.
import type { Version } from "../kubernetes/kube-object.ts";
import type { Instant } from "@janus/types";
import type { Journal } from "./journal.ts";

/** `inDoubt`: when it was read, where another process may have sent changes of its window. */
export type JournalObservation =
  | { readonly type: "read"; readonly journal: Journal; readonly inDoubt?: Instant }
  | NoJournal;

/**
 * taken: an object of its name exists; altered: it exists, and is not a valid journal any more; later: a later
 *        version of the controller wrote it. `since`: when this was read.
 */
export type NoJournal =
  | { readonly type: "missing"; readonly since?: Instant }
  | { readonly type: "later"; readonly storeNames: number }
  | { readonly type: "taken" }
  | { readonly type: "altered"; readonly version: Version; readonly storeNames: number; readonly since?: Instant }
  | JournalRefused;

/** The API server rejects it: its namespace is being deleted, or a quota is exceeded. */
export interface JournalRefused {
  readonly type: "refused";
  readonly why: string;
  readonly since: Instant;
}

interface Read {
  readonly journal?: JournalObservation;
}

/** See {@link Journal.storeNames}. */
export const storeNamesIn = ({ journal }: Read): number => {
  if (journal?.type === "read") return journal.journal.storeNames;
  return journal?.type === "later" || journal?.type === "altered" ? journal.storeNames : 0;
};

export const isRefused = (journal: JournalObservation | undefined): journal is JournalRefused =>
  journal?.type === "refused";
