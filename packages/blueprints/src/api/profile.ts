// The codec of a Profile: where backups are kept, and the credentials for that place.
import { boolean, described, excerpt, integer, optional, string, type TypeOf } from "@janus/api/codec";
import { mapOf } from "./map-of.ts";
import { ObjectReference } from "./object-reference.ts";

const KeyOfSecret = (about: string) =>
  described(
    about,
    excerpt({
      key: optional(described("The key of the Secret.", string())),
      secret: optional(described("The Secret.", ObjectReference)),
    }),
  );

/** A Profile has no spec. */
export const Profile = excerpt({
  location: optional(
    described(
      "Where backups are kept.",
      excerpt({
        type: optional(described("s3Compliant, gcs, azure or kopia.", string())),
        bucket: optional(described("The bucket, or container.", string())),
        endpoint: optional(described("The URL of the store. Default: that of AWS.", string())),
        prefix: optional(described("The beginning of paths in the bucket.", string())),
        region: optional(described("The region of the bucket.", string())),
      }),
    ),
  ),
  credential: optional(
    described(
      "How the store is entered.",
      excerpt({
        type: optional(described("keyPair, secret or kopia: which of the fields is used.", string())),
        keyPair: optional(
          described(
            "Two keys of a Secret.",
            excerpt({
              idField: optional(
                described(
                  "The key that has the ID. Default: aws_access_key_id, in Azure azure_storage_account_id.",
                  string(),
                ),
              ),
              secretField: optional(
                described(
                  "The key that has the secret. Default: aws_secret_access_key, in Azure azure_storage_key.",
                  string(),
                ),
              ),
              secret: optional(described("The Secret. Without a namespace: that of the Profile.", ObjectReference)),
            }),
          ),
        ),
        secret: optional(described("A Secret of the type secrets.kanister.io/aws, azure or gcp.", ObjectReference)),
        kopiaServerSecret: optional(
          described(
            "A repository server of kopia, for templates: no function uses it.",
            excerpt({
              username: optional(described("The user of the server.", string())),
              hostname: optional(described("The host of the user.", string())),
              userPassphrase: optional(KeyOfSecret("Where the passphrase of the user is.")),
              tlsCert: optional(KeyOfSecret("Where the certificate of the server is.")),
              connectOptions: optional(described("Options of the connection.", mapOf(integer))),
            }),
          ),
        ),
      }),
    ),
  ),
  skipSSLVerify: optional(described("Whether any certificate of the store is accepted. Default: false.", boolean)),
});
export type Profile = TypeOf<typeof Profile>;
