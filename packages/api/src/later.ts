// The format number of stored data, and errors that mean that a later version of the controller wrote it.
import type * as t from "io-ts";

/**
 * The latest format of a status, a journal or a snapshot that this version of the controller supports; absent is 1. A version
 * raises it if it records something with which an older one must not continue.
 */
export const FORMAT = 1;

/** An error of this version of the controller: a later one supports this field or format. */
interface Later extends t.ValidationError {
  readonly isLater: true;
}

export const later = (context: t.Context, message: string): t.ValidationError => {
  const fault: Later = { value: undefined, context, message, isLater: true };
  return fault;
};

export const isLater = (error: t.ValidationError): boolean => "isLater" in error;
