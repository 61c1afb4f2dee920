// The end of a command in a container, and what an error says of whether it has run.
import { type ApiError, messageOf } from "@janus/types";
import type { LogOutput } from "../log-output.ts";

/** The output of the command, as far as it was read. */
interface Written {
  readonly stdout: LogOutput;
  readonly stderr: LogOutput;
}

export type ExecOutcome =
  | (Written & { readonly type: "exited"; readonly exitCode: number })
  /** A command that has not run, and will not. */
  | { readonly type: "refused"; readonly message: string; readonly isProgramMissing: boolean }
  /** A command of which nobody can tell whether it has run. */
  | { readonly type: "lost"; readonly message: string };

/** The words of container runtimes for a program that is not there. */
const MISSING = /executable file not found|no such file or directory|ENOENT/u;

/** The API server has not reached the node; or it did not come so far. */
const UNREACHED = /error dialing backend|etcdserver/u;

/** The API server itself says that it has handed nothing on. */
const isPostponed = ({ code, reason, message }: Extract<ApiError, { readonly type: "refused" }>): boolean =>
  code === 401 ||
  code === 429 ||
  (code === 503 && reason === "ServiceUnavailable") ||
  (code === 500 && UNREACHED.test(message));

/** Tells whether the command has certainly not been started, by trouble that passes: it is tried again. */
export const isUnstarted = (error: ApiError): boolean =>
  error.type === "unanswered" ? error.cause === "never-sent" : error.fenced === true || isPostponed(error);

/** The outcome of a command that ends with an error. */
export const endedBy = (error: ApiError): ExecOutcome => {
  const message = messageOf(error);
  if (error.type === "unanswered") return { type: "lost", message };
  const isProgramMissing = MISSING.test(error.message);
  return isProgramMissing || (error.code >= 400 && error.code < 500 && error.code !== 408)
    ? { type: "refused", message, isProgramMissing }
    : { type: "lost", message };
};
