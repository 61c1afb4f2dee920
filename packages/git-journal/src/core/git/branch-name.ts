// Checks the name of a branch by the rules of git check-ref-format, so that it is never more than a name.
import * as E from "fp-ts/lib/Either.js";
import { isBranchForm } from "../../api/branch.ts";

export type BranchName = string & { readonly BranchName: unique symbol };

/** The most bytes of a segment: longer ones are no names of files, and refs are files. */
const LONGEST_SEGMENT = 200;

const isShort = (segment: string): boolean => Buffer.byteLength(segment) <= LONGEST_SEGMENT;

/** Checks the name of a branch. Left: why it is none. */
export const branchName = (text: string): E.Either<string, BranchName> =>
  text !== "" && isBranchForm(text) && text.isWellFormed() && text.split("/").every(isShort)
    ? E.right(text as BranchName)
    : E.left(
        `${JSON.stringify(text)} is no name of a branch (git check-ref-format), or has a part of more than ${LONGEST_SEGMENT} bytes`,
      );

export const refOf = (branch: BranchName): string => `refs/heads/${branch}`;
