// Makes the file of a Secret: never with its data in plain, but with a keyed digest that tells when they change.
import { asObject, canonical, isObject, type Json, type JsonObject, type KubeObject, without } from "@janus/types";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { CONTENT_DIGEST } from "../api/names.ts";
import { spellingsOf } from "./scrub.ts";

export const isSecret = ({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): boolean =>
  apiVersion === "v1" && kind === "Secret";

/** The names of fields below which all is encrypted, also below a label of this name, as SOPS does it. */
export const ENCRYPTED_FIELDS: readonly string[] = ["data", "stringData"];

/** Returns the part that is encrypted, without objects in which nothing is. */
const encryptedPart = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const part = ENCRYPTED_FIELDS.includes(name) ? value : isObject(value) ? encryptedPart(value) : null;
      return part === null || (isObject(part) && Object.keys(part).length === 0) ? [] : [[name, part]];
    }),
  );

const readablePart = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object)
      .filter(([name]) => !ENCRYPTED_FIELDS.includes(name))
      .map(([name, value]) => [name, isObject(value) ? readablePart(value) : value]),
  );

/**
 * Makes the digest of the part of a Secret that is encrypted.
 *
 * It has a key, since a plain hash of a short password can be guessed; and it is of one object, since those who may create
 * Secrets elsewhere would otherwise have the controller hash their guesses for them.
 */
export const contentDigest = (key: Uint8Array, secret: JsonObject): string => {
  const { namespace, name } = asObject(secret["metadata"]);
  const content = canonical({ namespace, name, ...encryptedPart(secret) });
  return `hmac-sha256:${bytesToHex(hmac(sha256, key, utf8ToBytes(content)))}`;
};

/** Annotations in which tools keep what they have applied, compressed: Rancher's Fleet and k3s, and operators of Banzai Cloud. */
const COMPRESSED_COPY = /^(?:objectset\.rio\.cattle\.io\/applied|banzaicloud\.com\/last-applied)$/u;

/** The least characters of a value, in base64 and decoded: shorter ones are found in texts that have nothing to do with them. */
const LONG_VALUE = 16;
const LONG_DECODED = 12;

/** Matches a field of that name with an object, in JSON or YAML, also inside a string of JSON. */
const HAS_DATA = /(?:^|[{,"']|\\n)\s*(?:data|stringData)\\*["']?\s*:\s*(?:$|\\n|[{#&])/mu;

/** Returns the spellings of a value in texts; none if it is short, or the path of the file says it anyway. */
const spellingsIn = (value: string, place: string, longest: number): readonly string[] => {
  const encoded = value.length < LONG_VALUE ? [] : [value];
  const bytes = Buffer.from(value, "base64");
  const decoded = bytes.toString("utf8");
  if (bytes.length > longest || decoded.trim().length < LONG_DECODED || place.includes(decoded)) return encoded;
  return [...encoded, ...spellingsOf(decoded), bytes.toString("hex"), bytes.toString("hex").toUpperCase()];
};

/** Drops texts that have a value of these data in them. */
const withoutValues = (texts: JsonObject, data: JsonObject, place: string): JsonObject => {
  const longest = Math.max(0, ...Object.values(texts).map((text) => (typeof text === "string" ? text.length : 0)));
  if (longest < LONG_DECODED) return texts;
  const spellings = Object.values(data).flatMap((value) =>
    typeof value === "string" ? spellingsIn(value, place, longest) : [],
  );
  return Object.fromEntries(
    Object.entries(texts).filter(
      ([, text]) => typeof text !== "string" || !spellings.some((one) => text.includes(one)),
    ),
  );
};

/** Whether an annotation is a copy of the manifest, and so of the data: many tools keep one. */
const isCopy = (name: string, value: Json): boolean =>
  COMPRESSED_COPY.test(name) || (typeof value === "string" && HAS_DATA.test(value));

interface Encryption {
  /** The digest of the data, see {@link contentDigest}. */
  readonly digest: string;
  /** The recipients of the data; none: these are left out. */
  readonly recipients: readonly string[];
}

/**
 * Makes the file of a sanitised Secret, without its data, which are added encrypted if there are recipients; and the object by
 * which two versions of the file are compared, since no two encryptions are the same.
 */
export const fileOfSecret = (
  secret: JsonObject,
  { digest, recipients }: Encryption,
): { readonly file: JsonObject; readonly compared: JsonObject } => {
  const metadata = asObject(secret["metadata"]);
  const data = asObject(secret["data"]);
  const place = [metadata["namespace"], metadata["name"]].filter((one) => typeof one === "string").join("/");
  const copied = Object.entries(asObject(metadata["annotations"])).filter(([name, value]) => !isCopy(name, value));
  const kept = withoutValues(Object.fromEntries(copied), data, place);
  const labels = withoutValues(asObject(metadata["labels"]), data, place);
  const file = {
    ...without(secret, ENCRYPTED_FIELDS),
    metadata: {
      ...without(metadata, ["labels"]),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      annotations: { ...kept, [CONTENT_DIGEST]: digest },
    },
  };
  const compared = recipients.length === 0 ? file : readablePart(file);
  return { file, compared: { ...compared, recipients: recipients.toSorted() } };
};
