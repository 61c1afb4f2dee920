// Sets the exit code once all output is written.
import { Failure } from "../failure.ts";

/** Ends the command with this code once everything is written; `failure`: that of a {@link Failure}. */
export const exitWith = async (code: Promise<number>, failure = 1): Promise<void> => {
  process.exitCode = await code.catch((error: unknown) => {
    throw error instanceof Failure && error.exitCode === 1 ? new Failure(error.message, failure) : error;
  });
};
