import type * as t from "io-ts";

/** `spec.changes[3].target.name: must not be empty`, one per error. Says what was expected, never the value that was found. */
export const report = (errors: t.Errors): string =>
  errors.map(({ context, message }) => `${path(context)}: ${message ?? "is not valid"}`).join("; ");

const path = (context: t.Context): string =>
  context
    .map(({ key }) => key)
    .filter((key) => key !== "")
    .join(".")
    .replaceAll(".[", "[");
