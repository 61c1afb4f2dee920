// The keys of Transactions in the work queue, and the groups whose turns they take.
import type { Transaction } from "@janus/api";

/** Its key in the work queue. */
export const queueKey = ({ metadata: { namespace, name } }: Transaction): string => `${namespace}/${name}`;

export const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** The group whose turns the Drafts of a namespace take: they must not hold up what is executed there. */
export const draftsOf = (namespace: string): string => `${namespace}/drafts`;
