// Waits that several mechanisms of the core share, in ms; one of a single mechanism is at the top of its file.

/** How often to poll for changes by other clients, or to retry. */
export const POLL_INTERVAL = 1000;

/**
 * How long after an item was rolled back rejections and values of the API server may be due to what that has just taken
 * away: a policy, a quota, missing permissions. API servers, and admission webhooks, learn of it a moment later.
 */
export const SETTLING = 10_000;
