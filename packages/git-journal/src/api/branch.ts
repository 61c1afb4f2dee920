// The codec of the name of a branch, by the rules of git check-ref-format.
import { type Rule, satisfying, string } from "@janus/api/codec";

/** Parts of names that git does not take, or takes for something else; as both RE2 and JavaScript read it. */
const WRONG = String.raw`^-|^@$|^HEAD$|^/|//|/$|(^|/)[.]|[.]lock(/|$)|[.]$|[.][.]|@[{]|[\x00-\x20\x7f-\x9f~^:?*[\\]`;
const WRONG_FORM = new RegExp(WRONG, "u");

export const isBranchForm = (text: string): boolean => !WRONG_FORM.test(text);

export const BRANCH_FORM = String.raw`must be a name of a branch (git check-ref-format): no "..", "//", "@{", white space or any of ~^:?*[\; not HEAD or @; no part that begins with "." or ends in ".lock"; no "-" or "/" at the beginning, no "." or "/" at the end`;

const branchForm: Rule<string> = {
  cel: `!self.matches(r'${WRONG}')`,
  message: BRANCH_FORM,
  holds: isBranchForm,
};

/** The most characters of the name of a branch: it is a path of git. */
const LONGEST = 1024;

/** The name of a branch, or an empty text for none. */
export const branchOrNone = satisfying(string({ maxLength: LONGEST }), branchForm);

export const branch = satisfying(string({ minLength: 1, maxLength: LONGEST }), branchForm);
