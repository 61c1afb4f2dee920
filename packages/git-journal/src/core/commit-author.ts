// Names the authors of commits.
import type { By } from "./history.ts";
import type { JournaledTransaction } from "./transactions.ts";

/** An author or a committer in git. */
export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

/** The committer of all commits, and the author of changes whose author is not known. */
export const BOT: GitIdentity = { name: "GitOps Reverser", email: "gitops-reverser@configbutler.ai" };

/** The most characters of a line. */
const LONGEST = 256;

/** Puts a text on one line, without control characters and separators of lines. */
export const oneLine = (text: string): string =>
  Array.from(text.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029]/gu, ""))
    .slice(0, LONGEST)
    .join("")
    .trim();

const EMAIL = /^[^\s@]+@[^\s@]+$/u;

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/gu, "-")
    .replaceAll(/^[-.]+|[-.]+$/gu, "")
    .slice(0, 64);

/**
 * Makes an author of a user of Kubernetes.
 *
 * Guarantees: neither name nor email ends early, whatever the username has: no control character, `<` or `>`.
 */
export const authorOf = (username: string): GitIdentity => {
  const name = oneLine(username.replaceAll(/[<>]/gu, ""));
  if (name === "") return BOT;
  return { name, email: EMAIL.test(name) ? name : `${slug(name) || "user"}@users.noreply.invalid` };
};

/** The author of a commit: for a Transaction the user who has requested it, if that is known. */
export const commitAuthor = (by: By, transaction: Pick<JournaledTransaction, "users"> | undefined): GitIdentity => {
  const username =
    by.type === "user" ? by.name : by.type === "transaction" ? transaction?.users.requestedBy : undefined;
  return username === undefined ? BOT : authorOf(username);
};
