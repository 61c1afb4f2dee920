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
