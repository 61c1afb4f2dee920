// The annotations with which users request a rollback or a retry.
import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";

/** Annotations with which users request something. */
export const REQUESTS: readonly string[] = [REQUEST_ROLLBACK, RETRY_ROLLBACK];
