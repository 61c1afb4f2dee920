import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import type { ObjectMeta } from "@janus/kube";

/** Annotations by which people ask for something. */
export const REQUESTS: readonly string[] = [REQUEST_ROLLBACK, RETRY_ROLLBACK];

type Said = Pick<ObjectMeta, "annotations" | "deletionTimestamp">;

/** Whether a person wants something of a Transaction that was not known yet: that it goes, or goes back. */
export const hasNewRequest = (seen: Said, known: Said | undefined): boolean =>
  (seen.deletionTimestamp !== undefined && known?.deletionTimestamp === undefined) ||
  REQUESTS.some((name) => seen.annotations?.[name] !== undefined && known?.annotations?.[name] === undefined);
