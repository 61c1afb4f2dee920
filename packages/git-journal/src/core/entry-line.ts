// Writes what is remembered of a request as a line, and reads it: so the replica that serves the webhook tells the others.
import { asObject, type Instant, parseJson } from "@janus/types";
import type { KeyedEntry } from "./correlation.ts";

/** Writes an entry as a line, without its end, and without the time, which is of another clock. */
export const entryLine = ({ key, entry: { user, uid, resourceVersion } }: KeyedEntry): string =>
  JSON.stringify({ key, user, uid, resourceVersion });

/** Reads an entry from a line; undefined: it is none. */
export const entryIn = (line: string, now: Instant): KeyedEntry | undefined => {
  const { key, user, uid, resourceVersion } = asObject(parseJson(line));
  if (typeof key !== "string" || typeof user !== "string" || typeof uid !== "string") return undefined;
  const version = typeof resourceVersion === "string" ? resourceVersion : undefined;
  return { key, entry: { user, uid, resourceVersion: version, at: now } };
};
