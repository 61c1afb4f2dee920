// The observation of a ConfigMap or Secret with contents of changes.
import type { Either } from "fp-ts/lib/Either.js";
import type { JsonObject, Instant } from "@janus/types";

/**
 * A ConfigMap or Secret with contents of changes, as it was read.
 *
 * read: with the contents by key; Left: what is wrong with one.
 * unavailable: it does not exist, or must not be read, which may still change.
 * unusable: whatever else happens.
 */
export type ContentsObservation =
  | {
      readonly type: "read";
      readonly uid: string;
      readonly digest: string;
      /** How much memory the contents take, in bytes. */
      readonly weight: number;
      readonly values: ReadonlyMap<string, Either<string, JsonObject>>;
    }
  | { readonly type: "unavailable"; readonly why: string; readonly since: Instant; readonly readAt: Instant }
  | { readonly type: "unusable"; readonly why: string };
