// Decides when the server of a repository is asked whether it can be used, and what its answer means.
import type { Instant } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Readiness } from "./conditions.ts";
import type { Failed } from "./configured.ts";
import { type BranchName, refOf } from "./git/branch-name.ts";
import type { Repository } from "./located.ts";

/** The last question to a server, and its answer. */
export interface Checked {
  /** The question, see {@link fingerprintOf}. */
  readonly fingerprint: string;
  /** The version of the Secret; undefined: there was none. */
  readonly secretVersion: string | undefined;
  readonly at: Instant;
  /** The number of failures in a row. */
  readonly failures: number;
  /** The refs that the server has, or why it could not be asked. */
  readonly answer: E.Either<Failed, ReadonlySet<string>>;
}

/** The pause after an answer, in ms. A worker says earlier if something has changed. */
const WHILE_READY = 600_000;
/** The pause after a refusal: wrong credentials that are sent often lock an account. */
const WHILE_REFUSED = 300_000;
/** The first pause after a failure that may pass, doubled with each, and the longest. */
const WHILE_FAILING = { first: 5_000, cap: 30_000 };
/** The pause between two looks at the Secret of a repository that cannot be used: an edit heals within 30 s. */
const SECRET = 25_000;

/** Names all that is asked for, without the content of the Secret. It has the name and password of a URL: it stays in memory. */
export const fingerprintOf = ({ url, branches, secret }: Repository): string =>
  JSON.stringify([url.key, url.user?.name, url.user?.password, branches, secret]);

type Question = Pick<Checked, "fingerprint" | "secretVersion">;

const isSame = (before: Checked | undefined, now: Question): before is Checked =>
  before !== undefined && before.fingerprint === now.fingerprint && before.secretVersion === now.secretVersion;

const pauseAfter = ({ answer, failures }: Checked): number => {
  if (E.isRight(answer)) return WHILE_READY;
  return answer.left.lasts
    ? WHILE_REFUSED
    : Math.min(WHILE_FAILING.cap, WHILE_FAILING.first * 2 ** Math.min(failures - 1, 10));
};

/** Returns in how many ms the server is asked; 0: now. */
export const askedIn = (checked: Checked | undefined, question: Question, now: Instant): number =>
  isSame(checked, question) ? Math.max(0, checked.at + pauseAfter(checked) - now) : 0;

/** Returns in how many ms the repository is looked at again, for something that has changed. */
export const lookedAtIn = (checked: Checked, now: Instant): number => {
  const pause = Math.max(1_000, checked.at + pauseAfter(checked) - now);
  return E.isLeft(checked.answer) ? Math.min(SECRET, pause) : pause;
};

/** The reasons of workers that are of the repository, and not of one of its branches. */
const OF_REPOSITORY: ReadonlySet<string> = new Set([
  "AuthenticationFailed",
  "CertificateUnknown",
  "ConnectionFailed",
  "HostKeyChanged",
  "HostKeyUnknown",
  "InvalidURL",
  "SecretMalformed",
  "SecretNotFound",
]);

export const isOfRepository = ({ type, reason }: Readiness): boolean => type === "failed" && OF_REPOSITORY.has(reason);

/** Whether a failure does not pass by itself: others may have a folder that this one cannot write. */
const isRefusal = (readiness: Readiness): boolean =>
  readiness.type === "failed" && (readiness.lasts || readiness.reason === "SecretNotFound");

/** Returns the keys of those that cannot be used until somebody changes something. */
export const refusedAmong = (repositories: ReadonlyMap<string, Readiness>): ReadonlySet<string> =>
  new Set([...repositories].flatMap(([key, readiness]) => (isRefusal(readiness) ? [key] : [])));

/** Takes note that a worker has used a branch. If it was not found before, or the server not asked, it is asked at once. */
export const afterUse = (checked: Checked, branch: BranchName, at: Instant): Checked => {
  const isFound = E.isRight(checked.answer) && checked.answer.right.has(refOf(branch));
  return { ...checked, at: isFound ? at : Number.NEGATIVE_INFINITY };
};

/** Takes the answer of the server. */
export const afterAnswer = (
  before: Checked | undefined,
  question: Question,
  answer: Checked["answer"],
  at: Instant,
): Checked => ({
  ...question,
  at,
  answer,
  failures: E.isLeft(answer) ? 1 + (isSame(before, question) ? before.failures : 0) : 0,
});

/** The most branches that are asked for: a repository may allow a thousand. */
const MOST = 50;

export const askedBranches = ({ branches }: Repository): readonly BranchName[] => branches.slice(0, MOST);

const named = (branches: readonly BranchName[]): string =>
  `branch${branches.length === 1 ? "" : "es"} ${branches.slice(0, 5).join(", ")}${branches.length > 5 ? ", …" : ""}`;

/** Says whether a repository can be used. */
export const readinessAfter = (repository: Repository, { answer }: Checked): Readiness =>
  E.isLeft(answer) ? answer.left : branchFound(repository, answer.right);

/** Says which branches of a repository were found. A branch that is missing is no error: it is made. */
const branchFound = (repository: Repository, refs: ReadonlySet<string>): Readiness => {
  const asked = askedBranches(repository);
  const found = asked.filter((one) => refs.has(refOf(one)));
  const missing = asked.filter((one) => !refs.has(refOf(one)));
  const what = [
    ...(found.length === 0 ? [] : [`found ${named(found)}`]),
    ...(missing.length === 0 ? [] : [`${named(missing)} will be made by the first push`]),
  ];
  return { type: "ready", reason: "BranchFound", message: `${repository.url.url}: ${what.join("; ")}` };
};
