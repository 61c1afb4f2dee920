// Writes structured log lines to stderr, without contents of objects.

/** One JSON line on stderr. Fields never carry an object's content. */
export type Log = (
  level: "debug" | "info" | "warn" | "error",
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export type LogLevel = Parameters<Log>[0];

const ORDER: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export const jsonLog =
  (least: LogLevel): Log =>
  (level, message, fields = {}) => {
    if (ORDER.indexOf(level) < ORDER.indexOf(least)) return;
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };

/** The same log, with these fields on every line. */
export const withFields =
  (log: Log, always: Readonly<Record<string, unknown>>): Log =>
  (level, message, fields) =>
    log(level, message, { ...always, ...fields });

/** A thrown error, as fields. A SyntaxError quotes what could not be parsed, which may be the value of a Secret. */
export const defect = (error: unknown): Readonly<Record<string, unknown>> =>
  error instanceof Error
    ? {
        error: error instanceof SyntaxError ? error.name : `${error.name}: ${error.message}`,
        at: error.stack?.match(/^ +at .*$/gm)?.map((line) => line.trim()),
      }
    : { error: typeof error };
