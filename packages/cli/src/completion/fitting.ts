// The Transactions that each command accepts, by their lifecycle and phase.
import type { Transaction } from "@janus/api";
import { canCancel, canRetry, canRollBack } from "../commands/act.ts";

type Fits = (txn: Transaction) => boolean;

const isDraft: Fits = ({ spec }) => spec.lifecycle === "Draft";
const isProposed: Fits = ({ spec }) => spec.lifecycle === "Proposed";
const isPublished: Fits = ({ spec }) => spec.lifecycle === "Published";

/** The Transactions that a command would not refuse; a command that is not listed takes any. */
const FITTING: Readonly<Record<string, Fits>> = {
  edit: isDraft,
  propose: isDraft,
  approve: isProposed,
  reject: isProposed,
  watch: (txn) => !isDraft(txn),
  rollback: canRollBack,
  retry: canRetry,
  cancel: canCancel,
  show: isPublished,
  diff: isPublished,
  restore: isPublished,
};

export const fits = (command: string): Fits => FITTING[command] ?? (() => true);
