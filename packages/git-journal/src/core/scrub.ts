// Takes credentials out of texts, in every spelling in which git, curl, ssh or a server might repeat them.
import type { Authentication } from "./credentials.ts";

export const REDACTED = "***";

const base64Of = (text: string): readonly string[] => {
  const padded = Buffer.from(text).toString("base64");
  return [padded, padded.replaceAll("=", ""), Buffer.from(text).toString("base64url")];
};

const urlEncoded = (text: string): readonly string[] => {
  const encoded = encodeURIComponent(text.toWellFormed());
  const strict = encoded.replaceAll(/[!'()*~._-]/gu, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return [encoded, strict].flatMap((one) => [
    one,
    one.replaceAll("%20", "+"),
    one.replaceAll(/%../gu, (escape) => escape.toLowerCase()),
  ]);
};

const inJson = (text: string): readonly string[] => {
  const quoted = JSON.stringify(text).slice(1, -1);
  const ascii = quoted.replaceAll(
    /[\u0080-\uFFFF]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [quoted, ascii, ascii.replaceAll(/\\u[0-9a-f]{4}/g, (escape) => `\\u${escape.slice(2).toUpperCase()}`)];
};

/** Spells a text as git prints one for which the server names no encoding. */
const misread = (text: string): string => Buffer.from(text).toString("latin1");

/** Returns a text as it is, and encoded for a URL, JSON or a header. */
export const spellingsOf = (text: string): readonly string[] => [
  text,
  text.trim(),
  ...urlEncoded(text),
  ...base64Of(text),
  ...inJson(text),
  misread(text),
];

/** Returns the lines of a key, which is never printed as a whole. Lines that are short are part of any text. */
const linesOf = (text: string): readonly string[] =>
  text.split(/\r?\n/u).filter((line) => line.length >= 16 && !line.startsWith("-----"));

/** Whether the name is the token itself: with no password, or with the one that hosts document for it. */
const isSecretName = (password: string): boolean => password === "" || password === "x-oauth-basic";

const valuesOf = ({ credentials }: Authentication): readonly string[] => {
  switch (credentials.by) {
    case "nothing":
      return [];
    case "token":
      return [credentials.token];
    case "password": {
      const { username, password } = credentials;
      return [`${username}:${password}`, password, ...(isSecretName(password) ? [username] : [])];
    }
    case "key":
      return [...linesOf(credentials.privateKey), credentials.passphrase ?? ""];
  }
};

/** Matches the text before the host of a URL: credentials, also ones that are not known. */
const USERINFO = /(?<=:\/\/)[^/\s@]+(?:@[^/\s@]+)*(?=@)/gu;

/**
 * Makes a function that takes these credentials out of any text.
 *
 * Guarantees: no value is left, be it as it is, or encoded for a URL, JSON or a header; nor the text before the host of any URL.
 */
export const scrubber = (authentication: Authentication): ((text: string) => string) => {
  const spellings = [...new Set(valuesOf(authentication).flatMap(spellingsOf))]
    .filter((one) => one !== "")
    .toSorted((a, b) => b.length - a.length);
  return (text) =>
    spellings.reduce((shown, one) => shown.replaceAll(one, REDACTED), text).replaceAll(USERINFO, REDACTED);
};
