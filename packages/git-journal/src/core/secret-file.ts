// Makes of a Secret what may be written: never its data in plain, but a keyed digest that tells when they change.
import { asObject, canonical, type JsonObject, type KubeObject, without } from "@janus/types";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { CONTENT_DIGEST } from "../api/names.ts";

export const isSecret = ({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): boolean =>
  apiVersion === "v1" && kind === "Secret";

/** With a key, since a plain hash of a short password can be guessed. */
export const contentDigest = (key: Uint8Array, secret: JsonObject): string =>
  `hmac-sha256:${bytesToHex(hmac(sha256, key, utf8ToBytes(canonical(secret["data"] ?? {}))))}`;

interface Encryption {
  /** Of its data, see {@link contentDigest}. */
  readonly digest: string;
  /** For whom they are encrypted; none: they are left out. */
  readonly recipients: readonly string[];
}

/**
 * The file of a sanitised Secret, without its data, which are added encrypted where there are recipients; and the object by which
 * two versions of the file are compared, since no two encryptions are the same.
 */
export const fileOfSecret = (
  secret: JsonObject,
  { digest, recipients }: Encryption,
): { readonly file: JsonObject; readonly compared: JsonObject } => {
  const metadata = asObject(secret["metadata"]);
  const annotations = { ...asObject(metadata["annotations"]), [CONTENT_DIGEST]: digest };
  const file = { ...without(secret, ["data", "stringData"]), metadata: { ...metadata, annotations } };
  return { file, compared: { ...file, recipients: recipients.toSorted() } };
};
