// Detects requests to stop an active Transaction: deletion, rollback request, terminating namespace.
import { cut, REQUEST_ROLLBACK, ROLLBACK_REQUESTED_BY, type Transaction } from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import { namespaces } from "../kubernetes/kube-object.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** The request of users to stop an active Transaction. */
export type StopRequest =
  | { readonly type: "none" }
  /** It has to be read whether its namespace is being deleted. */
  | { readonly type: "reading"; readonly effect: ApiCall }
  | { readonly type: "release"; readonly why: string }
  | { readonly type: "rollback"; readonly why: string };

/** Reads whether the namespace is being deleted. */
export const readNamespace = ({ txn }: ReconcileContext): ApiCall => ({
  purpose: "read-namespace",
  as: "controller",
  call: { verb: "get", place: { resource: namespaces, name: txn.metadata.namespace } },
  folds: [{ type: "namespace-read" }],
});

/** Deleting it releases it, or rolls it back first; in a namespace that is being deleted, nothing is waited for. */
export const stopRequest = (context: ReconcileContext): StopRequest => {
  const { txn, known, now } = context;
  const { deletionTimestamp } = txn.metadata;
  if (deletionTimestamp !== undefined) {
    if (txn.spec.deletionPolicy === "Release") return { type: "release", why: "the Transaction was deleted" };
    const { namespace } = known;
    if (namespace?.isGoing) return { type: "release", why: "the namespace is being deleted" };
    // The namespace may be deleted during the rollback.
    return namespace === undefined || now >= namespace.readAt + POLL_INTERVAL
      ? { type: "reading", effect: readNamespace(context) }
      : { type: "rollback", why: "the Transaction was deleted, and its deletionPolicy is Rollback" };
  }
  return isRequested(txn) ? { type: "rollback", why: requestedRollback(txn) } : { type: "none" };
};

/** Whether a user requests a rollback. */
export const isRequested = ({ metadata: { annotations } }: Transaction): boolean =>
  annotations?.[REQUEST_ROLLBACK] !== undefined;

/** How messages say that a user has requested a rollback, and which. */
export const requestedRollback = ({ metadata: { annotations } }: Transaction): string => {
  const who = annotations?.[ROLLBACK_REQUESTED_BY];
  return `rollback requested by ${who === undefined ? "" : `${cut(who, 253)}, with `}the annotation ${REQUEST_ROLLBACK}`;
};
