// The id of a git object, checked: of all that git prints, only this is used in an argument of another git process.
import * as O from "fp-ts/lib/Option.js";

/** The id: 40 hex digits, or 64 in a repository of sha256. */
export type ObjectId = string & { readonly ObjectId: unique symbol };

export const objectId = (text: string): O.Option<ObjectId> =>
  /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(text) ? O.some(text as ObjectId) : O.none;
