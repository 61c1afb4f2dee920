// The keys of Transactions in the work queue, and the groups whose turns they take.
import { FINALIZER, type Transaction } from "@janus/api";
import { isResting, isTerminal } from "../../core/index.ts";

/** Its key in the work queue. */
export const queueKey = ({ metadata: { namespace, name } }: Transaction): string => `${namespace}/${name}`;

export const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** The group whose turns the Drafts of a namespace take: they must not hold up what is executed there. */
export const draftsOf = (namespace: string): string => `${namespace}/drafts`;

/** It is terminal, and no cleanup is left, or none before its rollbackWindow has passed. */
export const isEnded = (txn: Transaction): boolean =>
  isTerminal(txn.status.phase) && (!(txn.metadata.finalizers ?? []).includes(FINALIZER) || isResting(txn));
