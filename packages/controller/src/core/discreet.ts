import type { Fault } from "./fault.ts";
import { asObject, isObject } from "./json.ts";

/** Every value below, as text. Keys are no secret: everybody who may see field managers sees them. */
const leaves = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (isObject(value)) return Object.values(value).flatMap(leaves);
  return value === null || value === undefined || value === "" ? [] : [String(value)];
};

const decoded = (text: string): readonly string[] => {
  try {
    return [atob(text)];
  } catch {
    return [];
  }
};

/** How an error may quote a text: as it is, escaped, in base64 and out of it. */
const quotations = (text: string): readonly string[] =>
  [text, btoa(String.fromCodePoint(...new TextEncoder().encode(text))), ...decoded(text)]
    .flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])
    .filter((form) => form !== "");

/**
 * The same fault, with nothing of the Secret that was sent in its sentences. The API server and admission checks quote what
 * they refuse, and what they say is told in status, events and logs.
 */
export const discreet = (fault: Fault, body: object): Fault => {
  if (fault.kind !== "refused") return fault;
  const { data, stringData } = asObject(body);
  const hidden = [...new Set(leaves([data, stringData]).flatMap(quotations))].toSorted((a, b) => b.length - a.length);
  const hide = (text: string): string => hidden.reduce((rest, quoted) => rest.replaceAll(quoted, "…"), text);
  return {
    ...fault,
    message: hide(fault.message),
    causes: fault.causes.map((cause) =>
      cause.message === undefined ? cause : { ...cause, message: hide(cause.message) },
    ),
  };
};
