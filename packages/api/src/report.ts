// Turns decoding errors into messages with a field path and never a value.
import type * as t from "io-ts";

export interface Mistake {
  /** `spec.changes[3].target.name` */
  readonly path: string;
  /** States what was expected; never the value that was found. */
  readonly message: string;
}

export const mistakes = (errors: t.Errors): readonly Mistake[] =>
  errors.map(({ context, message }) => ({ path: path(context), message: message ?? "is not valid" }));

/** `spec.changes[3].target.name: must not be empty`, one per error. Says what was expected, never the value that was found. */
export const report = (errors: t.Errors): string =>
  mistakes(errors)
    .map(({ path, message }) => `${path}: ${message}`)
    .join("; ");

const path = (context: t.Context): string =>
  context
    .map(({ key }) => key)
    .filter((key) => key !== "")
    .join(".")
    .replaceAll(".[", "[");
