// Takes values of Secrets out of text that is shown: outputs, artifacts, last lines and errors.
import { asObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ACTION_SET_UID } from "../api/names.ts";
import type { Memory } from "./memory.ts";
import { REDACTED } from "./text.ts";

/** Shorter values are part of any text by chance. In bytes. */
const LEAST = 8;

/** As many characters in a row of a value are no part of a text by chance. */
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
    // As Go has both.
    encoded.replaceAll("%20", "+").replaceAll(/[!'()*]/gu, (char) => `%${codeOf(char).toUpperCase()}`),
    quoted.replaceAll(/[<>&]/gu, (char) => `\\u00${codeOf(char)}`),
    // As a shell prints its commands.
    value.replaceAll("'", String.raw`'\''`),
  ];
};

/** What must not be shown. */
export interface SecretValues {
  /** In all forms, the longest first. */
  readonly whole: readonly string[];
  /** The same of Secrets that were not made for a Pod: those have commands, which others may know. */
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

/** The text without parts of these: last lines may begin or end in the middle of a value. */
export const withoutParts = (text: string, { parts }: Pick<SecretValues, "parts">): string => {
  const places = new Map<string, number[]>();
  for (let at = 0; at + PART <= text.length; at += 1) {
    const part = text.slice(at, at + PART);
    const known = places.get(part);
    if (known === undefined) places.set(part, [at]);
    else known.push(at);
  }
  const hidden = new Set<number>();
  for (const value of parts)
    for (let at = 0; at + PART <= value.length && places.size > 0; at += 1) {
      const part = value.slice(at, at + PART);
      for (const place of places.get(part) ?? []) for (let n = 0; n < PART; n += 1) hidden.add(place + n);
      places.delete(part);
    }
  const shown = (char: string, at: number): string => {
    if (!hidden.has(at)) return char;
    return hidden.has(at - 1) ? "" : REDACTED;
  };
  return hidden.size === 0 ? text : Array.from({ length: text.length }, (_, at) => shown(text.charAt(at), at)).join("");
};
