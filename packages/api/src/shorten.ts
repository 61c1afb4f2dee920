// Shortens names to a length, with a hash of the identity, so that no two of them collide.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** A hash of the text with 16 hexadecimal digits: a collision is likely only among 2^32 texts. */
const hash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 16);

/** A name that looks like a shortened one must be shortened too, or it could equal the short form of another name. */
export const looksShortened = (name: string): boolean => /-[0-9a-f]{16}$/u.test(name);

/** The beginning of the name and a hash of the identity, together at most `length` long; never ends a part on a dot. */
export const shortened = (name: string, identity: string, length: number): string =>
  `${name.slice(0, length - 17).replace(/[^A-Za-z0-9]+$/u, "")}-${hash(identity)}`;

/** The name itself if it fits and is unambiguous, otherwise its beginning and a hash. No two names give the same result. */
export const fitted = (name: string, length: number): string =>
  name.length <= length && !looksShortened(name) ? name : shortened(name, name, length);
