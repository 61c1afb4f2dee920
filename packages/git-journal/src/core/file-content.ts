// Compares what files say: the fingerprint of an object, and of what is in a file.
import { asObject, canonical, isKubeObject, type JsonObject, type KubeObject, readYaml } from "@janus/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { CONTENT_DIGEST } from "../api/names.ts";
import { isTooDeep, sanitised } from "./sanitise.ts";
import { fileOfSecret, isSecret } from "./secret-file.ts";

/** Returns a hash that is equal for equal objects, and for no others. */
export const fingerprint = (object: object): string => bytesToHex(sha256(utf8ToBytes(canonical(object)))).slice(0, 40);

/** The object in a file, as far as it is compared with others. */
export interface FileContent {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly fingerprint: string;
}

const isText = (value: unknown): boolean => value === undefined || typeof value === "string";

/** Reads the one object of a text; undefined if it is anything else: anybody may have written it, even a number for a name. */
export const objectIn = (text: string): KubeObject | undefined => {
  try {
    const [document, ...more] = readYaml(text);
    const value = document?.value;
    if (more.length > 0 || !isKubeObject(value) || isTooDeep(value)) return undefined;
    return isText(value.metadata.name) && isText(value.metadata.namespace) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isEncrypted = (value: unknown): boolean =>
  typeof value === "string" && (value === "" || value.startsWith("ENC["));

/** The part of a Secret to compare: digest and recipients, since encrypted data differ each time. Plain data never match. */
const secretContent = (object: KubeObject): JsonObject => {
  const { sops, ...secret } = sanitised(object);
  const age = asObject(sops)["age"];
  const recipients = (Array.isArray(age) ? age : []).flatMap((one) => {
    const { recipient } = asObject(one);
    return typeof recipient === "string" ? [recipient] : [];
  });
  const values = ["data", "stringData"].flatMap((field) => Object.values(asObject(secret[field])));
  const isOurs = sops !== undefined && values.every(isEncrypted);
  const digest = object.metadata.annotations?.[CONTENT_DIGEST] ?? "";
  return isOurs || values.length === 0
    ? fileOfSecret(secret, { digest, recipients }).compared
    : { ...secret, digest, recipients };
};

/** Reads what a file says; undefined if it is not that of one object. Comments, order and style do not count. */
export const contentOf = (text: string): FileContent | undefined => {
  const object = objectIn(text);
  const { name, namespace } = object?.metadata ?? {};
  if (object === undefined || name === undefined) return undefined;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    fingerprint: fingerprint(isSecret(object) ? secretContent(object) : sanitised(object)),
  };
};
