// Removes long quoted values and diffs of objects from messages of the API server.

const INVALID = "Invalid value: ";

/** Longer values are left out, in characters: the reason is behind them. */
const MOST = 64;

const OPENING = "{[(";
const CLOSING = "}])";

/** Where the value that begins here ends: before the first `: ` that is in no bracket and no text. Undefined: nowhere. */
const endOf = (message: string, start: number): number | undefined => {
  let depth = 0;
  let isText = false;
  for (let at = start; at < message.length; at += 1) {
    const one = message.charAt(at);
    if (one === "\\" && isText) at += 1;
    else if (one === '"') isText = !isText;
    else if (isText) continue;
    else if (OPENING.includes(one)) depth += 1;
    else if (CLOSING.includes(one)) depth -= 1;
    else if (depth <= 0 && message.startsWith(": ", at)) return at;
  }
  return undefined;
};

/** Where a diff of two objects begins, behind a reason: `@@ -6,7 +6,7 @@`, or as older API servers have it, `core.PodSpec{`. */
const DIFF = /^(?:@@ -\d|\s*[&*]?(?:\[\])?[a-z]\w*\.[A-Z]\w*\{$)/;
const OF_DIFF = /^(?:[\s+-]|@@ -|\\ No newline|$)/;

/** Of several reasons, the next one is behind the diff, after a comma. */
const withoutDiff = (message: string): string => {
  let kept = "";
  let isDiff = false;
  for (const [at, line] of message.split("\n").entries()) {
    const wasDiff: boolean = isDiff;
    isDiff = at > 0 && (DIFF.test(line) || (wasDiff && OF_DIFF.test(line)));
    if (!isDiff) kept += at === 0 || wasDiff ? line : `\n${line}`;
  }
  return kept;
};

/** Without long quoted values. */
const withoutValue = (message: string): string => {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const at = message.indexOf(INVALID, from);
    const end = at === -1 ? undefined : endOf(message, at + INVALID.length);
    if (end === undefined) return [...parts, message.slice(from)].join("");
    const isLong = end - at - INVALID.length > MOST;
    parts.push(message.slice(from, isLong ? at : end));
    from = isLong ? end + 2 : end;
  }
};

/** A value where the schema wants another, of which each line has one, in the words of Go. */
const VALUE_OF_GO = /&value\.valueUnstructured\{Value:(.*)\}$/gm;

const kindOf = (written: string): string => {
  if (written.startsWith("map[")) return "map";
  return written.startsWith("[]") ? "list" : written;
};

const withoutGo = (message: string): string => message.replaceAll(VALUE_OF_GO, (_, written: string) => kindOf(written));

/**
 * A message of the API server without the long values that it quotes, so that the reasons are not cut off behind them, without
 * the diffs that it puts behind a reason, and without names of Go for what a value is.
 *
 * @example
 *   Job.batch "migrate" is invalid: spec.template: Invalid value: {"metadata":{… 2 KiB …}}: field is immutable
 *   → Job.batch "migrate" is invalid: spec.template: field is immutable
 */
export const withoutDump = (message: string): string => withoutGo(withoutValue(withoutDiff(message)));
