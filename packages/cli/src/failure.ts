// The error that a command prints without a stack, with its exit code.

/** Exit code where a Transaction exists, or did, or may, and it is unknown how it ended. */
export const OUTCOME_UNKNOWN = 5;

/** Tells the user what went wrong and what to do next: printed after `error: `, without a stack. */
export class Failure extends Error {
  /** Default: 1. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
