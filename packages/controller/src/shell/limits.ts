// Numbers of the whole process for which there is no flag: requests, connections, loops and waits.
import type { Backoff } from "@janus/kube";
import type { HttpLimits, WatchBudget } from "@janus/runtime/parts";

/**
 * The numbers of the whole process: requests, connections, loops, and the pauses of a Transaction. What only one mechanism
 * knows, such as how often a Draft is rendered again, is beside that mechanism; the waits that decisions share are in
 * `core/state/waits.ts`.
 */

/**
 * Requests in flight, of all Transactions: enough to keep an API server of two cores busy. A namespace has half of them
 * at most: with 8 of 16, Transactions of others took three times as long where the API server has two cores.
 */
export const IN_FLIGHT = 12;

/** Renewals of locks in flight. They have connections of their own: no lock is lost because other requests hang. */
export const RENEWALS_IN_FLIGHT = 16;

/** The same of all Drafts: a render may take hundreds of dry runs, and nothing executed waits for it. So they pause, too. */
export const DRAFTS_IN_FLIGHT = 2;

/** Kinds that are listed at the same time, to find what is deleted together with others. */
export const LISTS = 8;

/** Watches of targets that Transactions wait for: of all namespaces, and of one. Each uses a connection. */
export const TARGET_WATCHES: WatchBudget = { watches: 32, ofNamespace: 8, polls: true };

/** The same of targets of Drafts, which may be looked at again when they are approved. */
export const DRAFT_WATCHES: WatchBudget = { watches: 32, ofNamespace: 4, polls: false };

/**
 * The most connections of each client. `requests`: for the requests and watches above, and the watch of Transactions, all
 * at once: a watch gives its connection back only when it ends, and what waits for one is not sent. `aside`: metrics, and
 * the leader label.
 */
export const CONNECTIONS = {
  requests: IN_FLIGHT + DRAFTS_IN_FLIGHT + TARGET_WATCHES.watches + DRAFT_WATCHES.watches + 1,
  renewals: RENEWALS_IN_FLIGHT,
  election: 4,
  aside: 4,
};

/** A request waits for its turn for so many times the write timeout; then it is not sent, and tried again after a pause. */
export const TURN_PATIENCE = 2;

/** The pause of a Transaction after requests that failed, doubled with each failure up to the cap, in ms. */
export const BACKOFF: Backoff = { first: 200, cap: 30_000 };

/** When a Failed Transaction is first retried, in ms: what has kept it from being rolled back is often over by then. */
export const RECOVERY_DELAY = 30_000;

/**
 * How long after the write timeout a change that is not visible counts as not applied, in ms: for what is under way in
 * the network when the API server starts to count.
 */
export const MARGIN = 1000;

/** The deadline of requests that must not delay the exit of the process, in ms. */
export const ASIDE_DEADLINE = 2000;

/** How often locks are checked for renewal, in ms: much less than a third of the shortest lockTimeout, a second. */
export const RENEWAL_ROUND = 250;

/** How long, in ms, a loop may make no progress before it counts as stuck; longer where requests may take longer. */
export const STUCK_AFTER = 60_000;

/**
 * Connections to the port of health and metrics, which every Pod may reach: as many as are open at once, the bytes of the
 * header of a request (a token has one or two KB), and, in ms, how long a request may take to arrive, and how often that
 * is checked.
 */
export const HTTP: HttpLimits = { connections: 256, headerBytes: 8192, arrival: 3000, check: 500 };
