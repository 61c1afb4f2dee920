// Prints a value as Go does, as kubectl compares and shows it.
import { digitsOf } from "@janus/types";

/** Prints a value as Go does, which is what kubectl compares and shows. */
export const print = (value: unknown): string => {
  const digits = digitsOf(value);
  if (digits !== undefined) return digits;
  return value === null ? "<nil>" : typeof value === "string" ? value : JSON.stringify(value);
};
