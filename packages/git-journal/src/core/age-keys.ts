// Checks keys of age: the public ones for which Secrets are encrypted, and the private ones with which they are read.
import { bech32 } from "@scure/base";
import * as E from "fp-ts/lib/Either.js";
import type { SecretFiles } from "./kept-object.ts";

/** The bytes of a key with this prefix, in lower case; undefined if the checksum or the length is wrong. */
const bytesOf = (text: string, prefix: string): Uint8Array | undefined => {
  try {
    const { prefix: its, bytes } = bech32.decodeToBytes(text);
    return its === prefix && bytes.length === 32 ? bytes : undefined;
  } catch {
    return undefined;
  }
};

const P = 2n ** 255n - 19n;

/** Points of X25519 whose shared secret anybody knows: no sender encrypts for them. https://cr.yp.to/ecdh.html#validate */
const SMALL_ORDER: readonly bigint[] = [
  0n,
  1n,
  P - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
];

/** The number of 32 bytes, the least significant first, without its highest bit. */
const coordinate = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n) % 2n ** 255n;

const isPublicKey = (text: string): boolean => {
  const bytes = bytesOf(text, "age");
  return text.startsWith("age1") && bytes !== undefined && !SMALL_ORDER.includes(coordinate(bytes) % P);
};

/** Says what is wrong with a recipient, without its text: it might be a private key. */
const problemOf = (text: string): string | undefined => {
  if (isPublicKey(text)) return undefined;
  if (/AGE-SECRET-KEY-|PRIVATE KEY/iu.test(text))
    return "is a private key: everybody who reads this object has it now. Make a new one, and put its public key there (age-keygen -y)";
  if (/^(?:ssh|ecdsa|sk-ssh)-/u.test(text))
    return "is a key of SSH, which is not supported: use one that age-keygen makes";
  if (/^age1[a-z]+1/u.test(text))
    return "is a key of a plugin of age, or a post-quantum one: only those of age-keygen (age1 and 58 more characters) are supported: use such a one";
  return "is no public key of age: compare it with what age-keygen -y prints (age1 and 58 more characters)";
};

/** The way in which the Secrets of a destination are written. */
export interface SecretsOfDestination {
  readonly secrets: SecretFiles;
  /** The message for its condition, where Secrets are left as they are. */
  readonly problem: string | undefined;
}

/** Says what is wrong with the first wrong one of `spec.secrets.ageRecipients`, for the condition of the GitDestination. */
export const recipientProblem = (ageRecipients: readonly string[]): string | undefined => {
  const problems = ageRecipients.map(problemOf);
  const at = problems.findIndex((problem) => problem !== undefined);
  return at === -1 ? undefined : `spec.secrets.ageRecipients[${at}] ${problems[at]}`;
};

/**
 * Decides how the Secrets of a destination with these `spec.secrets.ageRecipients` are written.
 *
 * Guarantees: if one of them is wrong, Secrets are not written, neither for the others nor without their data.
 * @param key the key of the digests
 */
export const secretsOf = (key: Uint8Array, ageRecipients: readonly string[] = []): SecretsOfDestination => {
  const problem = recipientProblem(ageRecipients);
  return problem === undefined
    ? { secrets: { key, recipients: [...new Set(ageRecipients)].toSorted() }, problem }
    : { secrets: { key, recipients: undefined, isRefused: true }, problem };
};

/**
 * Reads the private keys of a file such as that of `SOPS_AGE_KEY_FILE`: one in a line, beside comments. Those of plugins and
 * post-quantum ones are left out.
 */
export const identitiesOf = (file: string): E.Either<string, readonly string[]> => {
  const lines = file.split(/\r?\n/u).map((line, at) => ({ text: line.trim(), number: at + 1 }));
  const keys = lines.filter(({ text }) => text.startsWith("AGE-SECRET-KEY-1"));
  const wrong = keys.find(({ text }) => bytesOf(text, "age-secret-key-") === undefined);
  if (wrong !== undefined)
    return E.left(`line ${wrong.number} is no private key of age: it is not complete, or was changed`);
  return keys.length === 0
    ? E.left("there is no private key of age in it: a line that begins with AGE-SECRET-KEY-1")
    : E.right(keys.map(({ text }) => text));
};
