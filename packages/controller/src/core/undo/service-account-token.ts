// Handles token Secrets of a ServiceAccount that was deleted and created again.
import type { Transaction } from "@janus/api";
import type { Journal } from "../state/journal.ts";
import { type KubeObject, without } from "@janus/types";
import { uidNow } from "../snapshots/owner-references.ts";
import { ACCOUNT_UID, accountOf } from "../kubernetes/implicit-owners.ts";

/**
 * Whether it has the token of a ServiceAccount that this Transaction has deleted and that is not restored: it
 * would be deleted at once.
 */
export const belongsToMissingAccount = (txn: Transaction, journal: Journal, before: KubeObject): boolean => {
  const uid = accountOf(before);
  return uid !== undefined && uidNow(txn, journal, uid) === undefined;
};

/**
 * A Secret without the token of a ServiceAccount that has another uid now: the old token is invalid, and
 * kube-controller-manager creates a new one. The same object if there is none.
 */
export const withoutOldToken = (txn: Transaction, journal: Journal, before: KubeObject): KubeObject => {
  const uid = accountOf(before);
  if (uid === undefined || uidNow(txn, journal, uid) === uid) return before;
  const { annotations, ...metadata } = before.metadata;
  return {
    ...before,
    data: without(before["data"], ["token"]),
    metadata: { ...metadata, annotations: without(annotations, [ACCOUNT_UID]) as Readonly<Record<string, string>> },
  };
};
