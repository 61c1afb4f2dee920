// Lets Ctrl-C end a command in the middle of a write, and says what may have come of it.
import { Failure } from "../failure.ts";

const INTERRUPTED = 130;

export const interrupted = (what: string): Failure => new Failure(`interrupted. ${what}`, INTERRUPTED);

/** Ends the program at once if it is interrupted during this work. @param what is known of the work then, and how to find out */
export const interruptible = async <A>(work: Promise<A>, what: string): Promise<A> => {
  const interrupt = (): void => {
    process.stderr.write(`error: ${interrupted(what).message}\n`);
    process.exit(INTERRUPTED);
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  try {
    return await work;
  } finally {
    // Once whoever comes next listens: a signal that has arrived meanwhile would be lost with the last listener.
    setImmediate(() => {
      process.removeListener("SIGINT", interrupt);
      process.removeListener("SIGTERM", interrupt);
    });
  }
};
