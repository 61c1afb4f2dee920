/** What went wrong and what to do next, for people: printed after `error: `, without a stack. */
export class Failure extends Error {
  /** Default: 1. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
