// Names of what an ActionSet makes: the same after a restart, so that nothing is made twice.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { JOURNAL_PREFIX } from "../api/names.ts";

/** RFC 4648, in lower case. */
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** Ten characters. */
export const shortHash = (text: string): string =>
  Array.from(sha256(utf8ToBytes(text)).slice(0, 10), (byte) => BASE32.charAt(byte % 32)).join("");

export const journalName = (uid: string): string => `${JOURNAL_PREFIX}${uid}`;

/** The attempt of a phase, as annotations name it. */
export const attemptOf = (uid: string, action: number, phase: string, attempt: number): string =>
  `${uid}/${action}/${phase}/${attempt}`;

/**
 * The name under which the answers and the log of a phase are remembered.
 *
 * @param part of which of its Pods, if it has several
 */
export const phaseKey = (action: number, phase: number | "defer", attempt: number, part?: number | string): string =>
  `phase/${action}/${phase}/${attempt}${part === undefined ? "" : `/${part}`}`;

export const show = ({ namespace, name }: { readonly namespace?: string; readonly name: string }): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
