/** Takes one line for people. */
export type Log = (line: string) => void;

const plainEvery = 15_000;
const terminalEvery = 200;

const seconds = (since: number) => `${Math.round((performance.now() - since) / 1000)} s`;

/**
 * Shows that something takes its time: on a terminal as one line that keeps changing, elsewhere as a line now and then.
 *
 * @param work May say how far it is at any time, such as `12 of 100 MB`.
 */
export const withProgress = async <A>(
  log: Log,
  label: string,
  work: (at: (detail: string) => void) => Promise<A>,
): Promise<A> => {
  const start = performance.now();
  const terminal = process.stderr.isTTY && process.env["CI"] === undefined;
  let detail = "";
  const now = () => `${label} ... ${[seconds(start), detail].filter((part) => part !== "").join(", ")}`;
  if (!terminal) log(`${label} ...`);
  const timer = setInterval(
    () => (terminal ? process.stderr.write(`\r\x1b[2K${now().slice(0, process.stderr.columns - 1)}`) : log(now())),
    terminal ? terminalEvery : plainEvery,
  );
  try {
    const result = await work((text) => {
      detail = text;
    });
    if (terminal) process.stderr.write("\r\x1b[2K");
    log(now().replace(" ... ", ": "));
    return result;
  } finally {
    if (terminal) process.stderr.write("\r\x1b[2K");
    clearInterval(timer);
  }
};
