// Checks the name of a branch by the rules of git check-ref-format, so that it is never more than a name.
import * as E from "fp-ts/lib/Either.js";

export type BranchName = string & { readonly BranchName: unique symbol };

/** Longer ones are no file names, and refs are files. In bytes, for each segment. */
const LONGEST_SEGMENT = 200;

const isSegment = (segment: string): boolean =>
  segment !== "" &&
  !segment.startsWith(".") &&
  !segment.endsWith(".lock") &&
  Buffer.byteLength(segment) <= LONGEST_SEGMENT;

/** Left: why it is none. */
export const branchName = (text: string): E.Either<string, BranchName> =>
  !/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(text) &&
  text.isWellFormed() &&
  !text.startsWith("-") &&
  !text.endsWith(".") &&
  text !== "@" &&
  text !== "HEAD" &&
  text.split("/").every(isSegment)
    ? E.right(text as BranchName)
    : E.left(`${JSON.stringify(text)} is no name of a branch (git check-ref-format)`);

export const refOf = (branch: BranchName): string => `refs/heads/${branch}`;
