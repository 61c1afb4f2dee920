// Detects new requests of users in a watched Transaction.
import type { ObjectMeta } from "@janus/kube";
import { REQUESTS } from "../../core/index.ts";

type Requests = Pick<ObjectMeta, "annotations" | "deletionTimestamp">;

/** Whether a user has requested the deletion, a rollback or a retry, and the known version does not have that request. */
export const hasNewRequest = (seen: Requests, known: Requests | undefined): boolean =>
  (seen.deletionTimestamp !== undefined && known?.deletionTimestamp === undefined) ||
  REQUESTS.some((name) => seen.annotations?.[name] !== undefined && known?.annotations?.[name] === undefined);
