/**
 * Writes and reads the format of SOPS: the values of a Secret are encrypted, and the rest of the file can be read.
 *
 * Ciphers, random bytes and age are the shell's.
 * https://github.com/getsops/sops/blob/v3.13.3/sops.go https://github.com/getsops/sops/blob/v3.13.3/aes/cipher.go
 */
import {
  asObject,
  digitsOf,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  readYamlInOrder,
  YamlError,
} from "@janus/types";
import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { canonicalYaml, inOrder, type Ordered } from "./canonical.ts";
import { ENCRYPTED_FIELDS } from "./secret-file.ts";

/** The version whose format this is. */
const VERSION = "3.13.3";
const ENCRYPTED_REGEX = `^(${ENCRYPTED_FIELDS.join("|")})$`;

/** A text that is encrypted with AES-256-GCM. */
export interface Sealed {
  readonly data: Uint8Array;
  readonly iv: Uint8Array;
  readonly tag: Uint8Array;
}

/** Encrypts with the key of a file. What was encrypted for one place cannot be decrypted at another. */
export type Seal = (text: string, place: string) => Sealed;

/** Decrypts a text; undefined: another key, another place, or it was changed. */
export type Open = (sealed: Sealed, place: string) => string | undefined;

/** The key of a file, encrypted for one recipient. */
export interface FileKey {
  readonly recipient: string;
  /** The key, encrypted by age, with armor. */
  readonly enc: string;
}

type Leaf = string | number | boolean;
type Path = readonly string[];

/** Whether SOPS encrypts a value: labels of such a name, too. Items of a list have the path of the list. */
const isEncrypted = (path: Path): boolean => path.some((name) => ENCRYPTED_FIELDS.includes(name));
const placeOf = (path: Path): string => path.map((name) => `${name}:`).join("");

const textOf = (leaf: Leaf): string => {
  if (typeof leaf === "boolean") return leaf ? "True" : "False";
  return typeof leaf === "string" ? leaf : (digitsOf(leaf) ?? `${leaf}`);
};

const typeOf = (leaf: Leaf): "str" | "bool" | "int" =>
  typeof leaf === "string" ? "str" : typeof leaf === "boolean" ? "bool" : "int";

const leafOf = (type: string, text: string): Leaf | undefined => {
  if (type === "str") return text;
  if (type === "bool") return /^(?:True|False)$/u.test(text) ? text === "True" : undefined;
  return type === "int" && /^-?\d+$/u.test(text) ? (parseJson(text) as Leaf | undefined) : undefined;
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const bytesOf = (text: string): Uint8Array => Buffer.from(text, "base64");

const written = (leaf: Leaf, place: string, seal: Seal): string => {
  if (leaf === "") return "";
  const { data, iv, tag } = seal(textOf(leaf), place);
  return `ENC[AES256_GCM,data:${base64(data)},iv:${base64(iv)},tag:${base64(tag)},type:${typeOf(leaf)}]`;
};

const WRITTEN = /^ENC\[AES256_GCM,data:([^,]+),iv:([^,]+),tag:([^,]+),type:([a-z]+)\]$/u;

const read = (text: string, place: string, open: Open): Leaf | undefined => {
  if (text === "") return "";
  const [, data, iv, tag, type = ""] = WRITTEN.exec(text) ?? [];
  if (data === undefined || iv === undefined || tag === undefined) return undefined;
  const opened = open({ data: bytesOf(data), iv: bytesOf(iv), tag: bytesOf(tag) }, place);
  return opened === undefined ? undefined : leafOf(type, opened);
};

/** Encrypts the values that are to be. */
const sealed = (value: Json, seal: Seal, path: Path = []): Json => {
  if (Array.isArray(value)) return value.map((item) => sealed(item, seal, path));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, sealed(one, seal, [...path, name])]));
  return value === null || !isEncrypted(path) ? value : written(value as Leaf, placeOf(path), seal);
};

const isMap = (value: Ordered): value is ReadonlyMap<string, Ordered> => value instanceof Map;

/** Yields all values that are no list, object or null, in the order of the file. */
function* leavesOf(value: Ordered): Generator<Leaf> {
  if (isMap(value)) for (const one of value.values()) yield* leavesOf(one);
  else if (Array.isArray(value)) for (const one of value) yield* leavesOf(one);
  else if (value !== null) yield value as Leaf;
}

const checksumOf = (tree: Ordered): string => {
  const hash = sha512.create();
  for (const leaf of leavesOf(tree)) hash.update(utf8ToBytes(textOf(leaf)));
  return bytesToHex(hash.digest()).toUpperCase();
};

/** The means by which a Secret is encrypted. */
export interface Encryption {
  readonly seal: Seal;
  readonly keys: readonly FileKey[];
  /** The time, as RFC 3339 in whole seconds. */
  readonly lastModified: string;
}

/**
 * Writes the file of a Secret, in the canonical form.
 *
 * Guarantees: SOPS reads the object from it; no value under `data` or `stringData` is in it in plain.
 * Assumes:    its numbers are integers, and there is no field `sops`, as in every Secret.
 */
export const sopsFile = (secret: JsonObject, { seal, keys, lastModified }: Encryption): string =>
  canonicalYaml({
    ...asObject(sealed(secret, seal)),
    sops: {
      age: keys.map(({ recipient, enc }) => ({ enc, recipient })),
      encrypted_regex: ENCRYPTED_REGEX,
      lastmodified: lastModified,
      mac: written(checksumOf(inOrder(secret)), lastModified, seal),
      version: VERSION,
    },
  });

/** A file that SOPS has written. */
export interface SopsFile {
  /** The fields but `sops`, in the order of the file. */
  readonly tree: ReadonlyMap<string, Ordered>;
  readonly keys: readonly FileKey[];
  readonly lastModified: string;
  readonly mac: string;
}

const toJson = (value: Ordered): Json => {
  if (isMap(value)) return Object.fromEntries([...value].map(([name, one]) => [name, toJson(one)]));
  return Array.isArray(value) ? value.map(toJson) : (value as Json);
};

const documentIn = (text: string): E.Either<string, ReadonlyMap<string, Ordered>> => {
  try {
    const [document, ...more] = readYamlInOrder(text);
    return more.length === 0 && document?.value instanceof Map
      ? E.right(document.value as ReadonlyMap<string, Ordered>)
      : E.left("it is not one object");
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return E.left(`it is no YAML: line ${error.line}: ${error.message}`);
  }
};

const keysIn = (sops: JsonObject): readonly FileKey[] =>
  (Array.isArray(sops["age"]) ? sops["age"] : []).flatMap((one: Json) => {
    const { recipient, enc } = asObject(one);
    return typeof recipient === "string" && typeof enc === "string" ? [{ recipient, enc }] : [];
  });

/** Parses a SOPS file of a Secret, whoever has written it. */
export const parseSops = (text: string): E.Either<string, SopsFile> => {
  const document = documentIn(text);
  if (E.isLeft(document)) return document;
  const tree = new Map([...document.right].filter(([name]) => name !== "sops"));
  const sops = toJson(document.right.get("sops") ?? null);
  if (!isObject(sops)) return E.left("it is not encrypted by SOPS");
  const { encrypted_regex: regex, mac_only_encrypted: partly, lastmodified: lastModified, mac } = sops;
  if (regex !== ENCRYPTED_REGEX || partly === true)
    return E.left(`it is encrypted in another way: encrypt it with --encrypted-regex '${ENCRYPTED_REGEX}' alone`);
  if (typeof lastModified !== "string" || typeof mac !== "string")
    return E.left("its field sops has no lastmodified, or no mac: it is not complete");
  return E.right({ tree, keys: keysIn(sops), lastModified, mac });
};

const opened = (value: Ordered, open: Open, path: Path = []): E.Either<string, Ordered> => {
  if (isMap(value))
    return pipe(
      [...value],
      E.traverseArray(([name, one]) =>
        pipe(
          opened(one, open, [...path, name]),
          E.map((inner) => [name, inner] as const),
        ),
      ),
      E.map((fields): Ordered => new Map(fields)),
    );
  if (Array.isArray(value)) return E.traverseArray((one: Ordered) => opened(one, open, path))(value);
  if (value === null || !isEncrypted(path)) return E.right(value);
  if (typeof value !== "string" || !(value === "" || value.startsWith("ENC[")))
    return E.left(`${path.join(".")} is not encrypted`);
  const leaf = read(value, placeOf(path), open);
  return leaf === undefined
    ? E.left(`${path.join(".")} was changed, or moved there, after it was encrypted`)
    : E.right(leaf);
};

/**
 * Decrypts a SOPS file.
 *
 * Guarantees: nothing is returned of a file whose values were changed, added or removed after it was encrypted; no value is in an error.
 */
export const openSops = ({ tree, mac, lastModified }: SopsFile, open: Open): E.Either<string, JsonObject> =>
  pipe(
    opened(tree, open),
    E.filterOrElse(
      (plain) => read(mac, lastModified, open) === checksumOf(plain),
      () => "its values are not those of which sops.mac was made: it was edited without sops",
    ),
    E.map((plain) => asObject(toJson(plain))),
  );
