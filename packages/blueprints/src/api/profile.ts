// The codec of a Profile: where backups are kept, and the credentials for that place.
import { boolean, excerpt, integer, optional, string, type TypeOf } from "@janus/api/codec";
import { mapOf } from "./map-of.ts";
import { ObjectReference } from "./object-reference.ts";

const KeyOfSecret = excerpt({ key: optional(string()), secret: optional(ObjectReference) });

/** A Profile has no spec. */
export const Profile = excerpt({
  location: optional(
    excerpt({
      type: optional(string()),
      bucket: optional(string()),
      endpoint: optional(string()),
      prefix: optional(string()),
      region: optional(string()),
    }),
  ),
  credential: optional(
    excerpt({
      type: optional(string()),
      keyPair: optional(
        excerpt({
          idField: optional(string()),
          secretField: optional(string()),
          secret: optional(ObjectReference),
        }),
      ),
      secret: optional(ObjectReference),
      kopiaServerSecret: optional(
        excerpt({
          username: optional(string()),
          hostname: optional(string()),
          userPassphrase: optional(KeyOfSecret),
          tlsCert: optional(KeyOfSecret),
          connectOptions: optional(mapOf(integer)),
        }),
      ),
    }),
  ),
  skipSSLVerify: optional(boolean),
});
export type Profile = TypeOf<typeof Profile>;
