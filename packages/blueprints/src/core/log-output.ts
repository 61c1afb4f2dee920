// The outputs in a log: kando writes them as lines with a mark, and the last lines explain a failure.
import { asObject, type Json } from "@janus/types";

/** Written by `kando output` before the JSON of an output; anything may come before it in the line. */
const MARK = "###Phase-output###:";

/** The part of a log that is kept. */
export interface LogOutput {
  readonly outputs: Readonly<Record<string, string>>;
  /** The last lines, as far as they have few bytes. */
  readonly tail: readonly string[];
  /** The reason why the outputs are not complete: one that cannot be read, or a log that is too long. */
  readonly problem?: string;
  /** The line that has no end yet. */
  readonly rest: string;
  readonly bytes: number;
  readonly isEnded: boolean;
}

export const NO_LOG: LogOutput = { outputs: {}, tail: [], rest: "", bytes: 0, isEnded: false };

const TAIL_LINES = 10;
const TAIL_BYTES = 2048;
/** The most bytes of one output. */
const MOST_OUTPUT = 64 * 1024;
/** The most bytes of a whole log. */
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

/** The most bytes of all outputs. */
const MOST_OUTPUTS = 512 * 1024;

/** A log that is being read on: what it has is changed in place, so that a log of many outputs takes no square of their number. */
interface Reading {
  readonly outputs: Map<string, string>;
  readonly tail: string[];
  /** The bytes of its outputs. */
  size: number;
  problem: string | undefined;
}

const bytesOf = (key: string, value: string): number => Buffer.byteLength(key) + Buffer.byteLength(value);

const begin = ({ outputs, tail, problem }: LogOutput): Reading => ({
  outputs: new Map(Object.entries(outputs)),
  tail: [...tail],
  size: Object.entries(outputs).reduce((sum, [key, value]) => sum + bytesOf(key, value), 0),
  problem,
});

const end = (log: LogOutput, { outputs, tail, problem }: Reading): LogOutput => ({
  ...log,
  outputs: Object.fromEntries(outputs),
  tail,
  ...(problem === undefined ? {} : { problem }),
});

/** Text that is no Unicode is stored as other text: it is that from the beginning. */
const readOutput = (log: Reading, text: string): void => {
  const { key, value: written } = asObject(parsed(text.toWellFormed()));
  const complain = (problem: string): void => {
    log.problem ??= problem;
  };
  if (typeof key !== "string" || typeof written !== "string")
    return complain('an output is not of the form {"key":"…","value":"…"}');
  const value = written.toWellFormed();
  if (!NAME.test(key)) return complain(`"${key}" is not a name of an output: letters, digits and _`);
  const bytes = Buffer.byteLength(value);
  if (bytes > MOST_OUTPUT) return complain(`output "${key}" is ${Math.ceil(bytes / 1024)} KiB, 64 KiB is the most`);
  const former = log.outputs.get(key);
  const size = log.size + bytesOf(key, value) - (former === undefined ? 0 : bytesOf(key, former));
  if (size > MOST_OUTPUTS) return complain("its outputs are more than 512 KiB");
  log.size = size;
  log.outputs.set(key, value);
};

/** A long line ends with a whole word: of the value of a Secret, no part is known for it. */
const cut = (line: string): string =>
  line.length <= TAIL_BYTES ? line.toWellFormed() : `${line.slice(0, TAIL_BYTES).replace(/\S+$/u, "").toWellFormed()}…`;

const readTail = ({ tail }: Reading, line: string): void => {
  tail.push(cut(line));
  if (tail.length > TAIL_LINES) tail.shift();
  while (tail.length > 1 && Buffer.byteLength(tail.join("\n")) > TAIL_BYTES) tail.shift();
};

const readLine = (log: Reading, line: string): void => {
  const at = line.indexOf(MARK);
  if (at !== -1) readOutput(log, line.slice(at + MARK.length).trim());
  else if (line.trim() !== "") readTail(log, line);
};

/** Reads on. Of the same log it gives the same, in whatever pieces it comes. Later outputs of a name replace earlier ones. */
export const readLog = (log: LogOutput, chunk: string): LogOutput => {
  const bytes = log.bytes + Buffer.byteLength(chunk);
  if (bytes > MOST_LOG) return { ...log, bytes, problem: log.problem ?? "it has written more than 64 MiB" };
  const lines = `${log.rest}${chunk}`.split("\n");
  const rest = lines.pop() ?? "";
  const reading = begin(log);
  for (const line of lines) readLine(reading, line);
  // The part that is left out of a line without an end has no output, or one that is too large.
  const kept = rest.length > MOST_LINE ? rest.slice(-MOST_LINE) : rest;
  const left = rest.length - kept.length;
  if (left > 0 && rest.slice(0, left + MARK.length).includes(MARK)) reading.problem ??= "an output is more than 64 KiB";
  return { ...end(log, reading), rest: kept, bytes };
};

/** The end of the log: its last line need not have an end. */
export const endLog = (log: LogOutput): LogOutput => {
  const reading = begin(log);
  readLine(reading, log.rest);
  return { ...end(log, reading), rest: "", isEnded: true };
};
