// The outputs in a log: kando writes them as lines with a mark, and the last lines explain a failure.
import { asObject, type Json } from "@janus/types";

/** What `kando output` writes before the JSON of an output; anything may come before it in the line. */
const MARK = "###Phase-output###:";

/** The part of a log that is kept. */
export interface LogOutput {
  readonly outputs: Readonly<Record<string, string>>;
  /** The last lines, as far as they have few bytes. */
  readonly tail: readonly string[];
  /** Why the outputs are not complete: an output that cannot be read, or a log that is too long. */
  readonly problem?: string;
  /** The line that has no end yet. */
  readonly rest: string;
  readonly bytes: number;
  readonly isEnded: boolean;
}

export const NO_LOG: LogOutput = { outputs: {}, tail: [], rest: "", bytes: 0, isEnded: false };

const TAIL_LINES = 10;
const TAIL_BYTES = 2048;
/** Of one output, in bytes. */
const MOST_OUTPUT = 64 * 1024;
/** Of a whole log, in bytes. */
export const MOST_LOG = 64 * 2 ** 20;
/** A line that is longer has no output of the size that is allowed. */
const MOST_LINE = 4 * MOST_OUTPUT;

const NAME = /^[A-Za-z0-9_]+$/u;

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const withOutput = (log: LogOutput, text: string): LogOutput => {
  const { key, value } = asObject(parsed(text));
  if (typeof key !== "string" || typeof value !== "string")
    return { ...log, problem: log.problem ?? 'an output is not of the form {"key":"…","value":"…"}' };
  if (!NAME.test(key))
    return { ...log, problem: log.problem ?? `"${key}" is not a name of an output: letters, digits and _` };
  const bytes = Buffer.byteLength(value);
  if (bytes > MOST_OUTPUT)
    return { ...log, problem: log.problem ?? `output "${key}" is ${Math.ceil(bytes / 1024)} KiB, 64 KiB is the most` };
  return { ...log, outputs: { ...log.outputs, [key]: value } };
};

const withTail = ({ tail, ...log }: LogOutput, line: string): LogOutput => {
  const lines = [...tail, line.slice(0, TAIL_BYTES)].slice(-TAIL_LINES);
  while (lines.length > 1 && Buffer.byteLength(lines.join("\n")) > TAIL_BYTES) lines.shift();
  return { ...log, tail: lines };
};

const withLine = (log: LogOutput, line: string): LogOutput => {
  const at = line.indexOf(MARK);
  if (at !== -1) return withOutput(log, line.slice(at + MARK.length).trim());
  return line.trim() === "" ? log : withTail(log, line);
};

/** Reads on. Of the same log it gives the same, in whatever pieces it comes. Later outputs of a name replace earlier ones. */
export const readLog = (log: LogOutput, chunk: string): LogOutput => {
  const bytes = log.bytes + Buffer.byteLength(chunk);
  if (bytes > MOST_LOG) return { ...log, bytes, problem: log.problem ?? "the log is longer than 64 MiB" };
  const [rest = "", ...lines] = `${log.rest}${chunk}`.split("\n").toReversed();
  const read = lines.toReversed().reduce(withLine, log);
  return { ...read, rest: rest.slice(0, MOST_LINE), bytes };
};

/** The end of the log: its last line need not have an end. */
export const endLog = (log: LogOutput): LogOutput => ({
  ...(log.rest === "" ? log : withLine(log, log.rest)),
  rest: "",
  isEnded: true,
});
