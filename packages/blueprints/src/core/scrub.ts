// Takes values of Secrets out of text that is shown: outputs, artifacts, last lines and errors.
import { asObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ACTION_SET_UID } from "../api/names.ts";
import type { Memory } from "./memory.ts";
import { REDACTED } from "./text.ts";

/** Shorter values are part of any text by chance. In bytes. */
const LEAST = 8;

/** The number of characters in a row of a value that no text has by chance. */
const PART = 16;

/** Base64, also of a longer text in which it stands: without the characters that depend on its neighbours. */
const inBase64 = (bytes: Buffer): readonly string[] => {
  const whole = bytes.toString("base64");
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/u, "");
    const isAtEnd = (before + bytes.length) % 3 === 0;
    return text.slice(before === 0 ? 0 : before + 1, isAtEnd ? undefined : -1);
  });
  return [whole, whole.replace(/=+$/u, ""), ...within];
};

const codeOf = (char: string): string => char.charCodeAt(0).toString(16);

/** The forms in which a value may stand in a text. */
const formsOf = (bytes: Buffer): readonly string[] => {
  const value = bytes.toString();
  const quoted = JSON.stringify(value).slice(1, -1);
  const encoded = encodeURIComponent(value.toWellFormed());
  return [
    value,
    value.trim(),
    ...inBase64(bytes),
    encoded,
    quoted,
    // Go escapes more characters in both forms.
    encoded.replaceAll("%20", "+").replaceAll(/[!'()*]/gu, (char) => `%${codeOf(char).toUpperCase()}`),
    quoted.replaceAll(/[<>&]/gu, (char) => `\\u00${codeOf(char)}`),
    // A shell prints its commands with quotes in this form.
    value.replaceAll("'", String.raw`'\''`),
  ];
};

/** The values that must not be shown. */
export interface SecretValues {
  /** The values in all forms, the longest first. */
  readonly whole: readonly string[];
  /** The values in all forms, but of Secrets that were made for a Pod: those have commands, which others may know. */
  readonly parts: readonly string[];
}

export const NO_SECRETS: SecretValues = { whole: [], parts: [] };

const bytesIn = (secrets: readonly KubeObject[]): readonly Buffer[] =>
  secrets
    .flatMap((secret) => Object.values(asObject(secret["data"])))
    .flatMap((value) => (typeof value === "string" ? [Buffer.from(value, "base64")] : []));

const allForms = (values: readonly Buffer[]): readonly string[] => {
  const forms = values.flatMap(formsOf);
  return [...new Set(forms)].filter((form) => Buffer.byteLength(form) >= LEAST).toSorted((a, b) => b.length - a.length);
};

/** Keys and certificates have many; one alone says as much. */
const linesIn = (value: Buffer): readonly Buffer[] => {
  const lines = value.toString().split("\n");
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= PART).map((line) => Buffer.from(line));
};

const isForPod = ({ metadata: { labels = {} } }: KubeObject): boolean => labels[ACTION_SET_UID] !== undefined;

/** The values of all Secrets that were read for the ActionSet. @param more what depends on Secrets, too */
export const secretValues = (
  { facts, object }: Pick<Memory, "facts" | "object">,
  more: readonly string[] = [],
): SecretValues => {
  const secrets = [...facts.values()].flatMap((answer) =>
    E.isRight(answer) && answer.right.kind === "Secret" ? [answer.right] : [],
  );
  const others = secrets.filter(
    ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) !== true,
  );
  const known = [...bytesIn(others.filter((one) => !isForPod(one))), ...more.map((text) => Buffer.from(text))];
  const commands = bytesIn(others.filter(isForPod));
  return { whole: allForms([...known, ...known.flatMap(linesIn), ...commands]), parts: allForms(known) };
};

/** The text without any of these. */
export const scrubbed = (text: string, { whole }: Pick<SecretValues, "whole">): string =>
  whole.reduce((shown, value) => shown.replaceAll(value, REDACTED), text);

/** Each part of a value has one of its blocks as a whole. */
const BLOCK = PART / 2;

/** The most comparisons of characters: a text that needs more is not shown at all. */
const MOST_COMPARED = 1_000_000;

/** The places of all blocks of a text. */
const blocksOf = (text: string): ReadonlyMap<string, readonly number[]> => {
  const places = new Map<string, number[]>();
  for (let at = 0; at + BLOCK <= text.length; at += 1) {
    const block = text.slice(at, at + BLOCK);
    const known = places.get(block);
    if (known === undefined) places.set(block, [at]);
    else known.push(at);
  }
  return places;
};

/** Counts the characters that both have in common from there on, in steps of 1 or -1. */
const common = (one: string, at: number, other: string, place: number, step: 1 | -1): number => {
  let count = 0;
  for (;;) {
    const char = one.charAt(at + step * count);
    if (char === "" || char !== other.charAt(place + step * count)) return count;
    count += 1;
  }
};

/** The text without parts of these: last lines may begin or end in the middle of a value. */
export const withoutParts = (text: string, { parts }: Pick<SecretValues, "parts">): string => {
  const places = blocksOf(text);
  const hidden = new Set<number>();
  let compared = 0;
  for (const value of parts)
    for (let at = 0; at + BLOCK <= value.length; at += BLOCK)
      for (const place of places.get(value.slice(at, at + BLOCK)) ?? []) {
        const before = common(value, at - 1, text, place - 1, -1);
        const after = common(value, at, text, place, 1);
        compared += before + after;
        if (compared > MOST_COMPARED) return REDACTED;
        if (before + after >= PART) for (let n = place - before; n < place + after; n += 1) hidden.add(n);
      }
  const shown = (at: number): string => {
    if (!hidden.has(at)) return text.charAt(at);
    return hidden.has(at - 1) ? "" : REDACTED;
  };
  return hidden.size === 0 ? text : Array.from({ length: text.length }, (_, at) => shown(at)).join("");
};
