// Decodes the contents of changes in ConfigMaps and Secrets, compressed or not, within a memory limit.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Gunzip } from "fflate";
import * as E from "fp-ts/lib/Either.js";
import { asObject, canonical, isObject, type JsonObject, type KubeObject, member, parseJson } from "@janus/types";
import { isTooDeep, TOO_DEEP } from "../kubernetes/nesting.ts";

/** The content under a key, or what is wrong with it; and how much memory it takes or took, as {@link MOST_CONTENTS} counts. */
export interface StoredContent {
  readonly content: E.Either<string, JsonObject>;
  readonly weight: number;
}

/** The most contents of one Transaction, in bytes of JSON; … */
export const MOST_CONTENTS = 8 * 2 ** 20;
/** … an object or list, which takes much more memory than its text, counts as so many more. */
const OF_CONTAINER = 16;

/** How much is decompressed in one go: a thousand times as much may come out. */
const STEP = 4096;

const bytesOfBase64 = (text: string): Uint8Array => {
  const bytes = atob(text);
  return Uint8Array.from({ length: bytes.length }, (_, index) => bytes.charCodeAt(index));
};

/** Tells gzip by its magic bytes: no JSON begins with them. */
const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b;

export const TOO_LARGE = `is larger than ${MOST_CONTENTS / 2 ** 20} MiB`;

const NO_JSON = "is not a JSON object, plain or compressed with gzip";

/** Text, or what is wrong with it; and how many bytes were decompressed for that. */
interface Decoded {
  readonly text: E.Either<string, string>;
  readonly work: number;
}

const utf8 = (bytes: Uint8Array): E.Either<string, string> =>
  E.tryCatch(
    () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    () => NO_JSON,
  );

/** Stops as soon as it is too large. */
const gunzipped = (bytes: Uint8Array): Decoded => {
  const parts: Uint8Array[] = [];
  let size = 0;
  const stream = new Gunzip((part) => {
    parts.push(part);
    size += part.length;
  });
  try {
    for (let at = 0; at < bytes.length; at += STEP) {
      stream.push(bytes.subarray(at, at + STEP), at + STEP >= bytes.length);
      if (size > MOST_CONTENTS) return { text: E.left(TOO_LARGE), work: size };
    }
  } catch {
    return { text: E.left(NO_JSON), work: size };
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { text: utf8(whole), work: size };
};

const decoded = (bytes: Uint8Array): Decoded =>
  isGzip(bytes) ? gunzipped(bytes) : { text: utf8(bytes), work: bytes.length };

/** How much memory a content takes, by its JSON. */
export const contentWeight = (text: string): number => {
  let containers = 0;
  for (let at = 0; at < text.length; at += 1) {
    const one = text.charCodeAt(at);
    if (one === 0x7b || one === 0x5b) containers += 1;
  }
  return text.length + OF_CONTAINER * containers;
};

const parsed = (text: string): E.Either<string, JsonObject> => {
  const value = parseJson(text);
  if (!isObject(value)) return E.left(NO_JSON);
  return isTooDeep(value) ? E.left(TOO_DEEP) : E.right(value);
};

const wrong = (why: string): Decoded => ({ text: E.left(why), work: 0 });

/** The bytes under a key of a ConfigMap or Secret, as text or in base64. */
const storedText = (object: KubeObject, key: string): Decoded => {
  const value = member(asObject(object["data"]), key);
  if (object.kind !== "Secret" && typeof value === "string") return { text: E.right(value), work: value.length };
  const binary = object.kind === "Secret" ? value : member(asObject(object["binaryData"]), key);
  if (typeof binary !== "string") return wrong("is missing");
  const bytes = E.tryCatch(
    () => bytesOfBase64(binary),
    () => "is not base64",
  );
  return E.isLeft(bytes) ? wrong(bytes.left) : decoded(bytes.right);
};

/**
 * Reads the content under a key of a ConfigMap or Secret.
 *
 * Guarantees: takes no more memory than `most`, whatever is compressed in it; what was decompressed for nothing has its
 *             weight, too; what is wrong is said without any value.
 */
export const storedContent = (object: KubeObject, key: string, most: number): StoredContent => {
  const { text, work } = storedText(object, key);
  if (E.isLeft(text)) return { content: text, weight: work };
  const weight = contentWeight(text.right);
  return weight > most ? { content: E.left(TOO_LARGE), weight } : { content: parsed(text.right), weight };
};

/** Hashes all data, so that a Secret with a random key among it tells nothing of the others. */
export const digestOfContents = ({ data = {}, binaryData = {} }: KubeObject): string =>
  `sha256:${bytesToHex(sha256(utf8ToBytes(canonical({ data, binaryData }))))}`;
