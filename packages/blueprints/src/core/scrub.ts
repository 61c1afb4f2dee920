// Takes values of Secrets out of text that is shown: outputs, artifacts, last lines and errors.
import { asObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Memory } from "./memory.ts";
import { REDACTED } from "./text.ts";

/** Shorter values are part of any text by chance. In bytes. */
const LEAST = 8;

/** The forms in which a value may stand in a text. */
const formsOf = (value: string): readonly string[] => {
  const quoted = JSON.stringify(value).slice(1, -1);
  return [
    value,
    value.trim(),
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64").replace(/=+$/u, ""),
    encodeURIComponent(value.toWellFormed()),
    quoted,
  ];
};

/** The values of all Secrets that were read for the ActionSet, the longest first. */
export const secretValues = ({ facts, object }: Pick<Memory, "facts" | "object">): readonly string[] => {
  const secrets = [...facts.values()].flatMap((answer) =>
    E.isRight(answer) && answer.right.kind === "Secret" ? [answer.right] : [],
  );
  const own = secrets.filter(
    ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) !== true,
  );
  const values = own.flatMap((secret) => Object.values(asObject(secret["data"])));
  const forms = values.flatMap((value) =>
    typeof value === "string" ? formsOf(Buffer.from(value, "base64").toString()) : [],
  );
  return [...new Set(forms)].filter((form) => Buffer.byteLength(form) >= LEAST).toSorted((a, b) => b.length - a.length);
};

/** The text without any of these. */
export const scrubbed = (text: string, values: readonly string[]): string =>
  values.reduce((shown, value) => shown.replaceAll(value, REDACTED), text);
