import type * as t from "io-ts";

/**
 * The latest format of a status, a journal or a snapshot that this version of the controller knows; absent is 1. It is raised by a
 * version that records what an older one must not go on with.
 */
export const FORMAT = 1;

/** A fault of this version of the controller: a later one knows what this is. */
interface Later extends t.ValidationError {
  readonly isLater: true;
}

export const later = (context: t.Context, message: string): t.ValidationError => {
  const fault: Later = { value: undefined, context, message, isLater: true };
  return fault;
};

export const isLater = (error: t.ValidationError): boolean => "isLater" in error;
