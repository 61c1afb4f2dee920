// Tests when servers are asked: soon after an edit, and seldom while they refuse.
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { Readiness } from "../../../packages/git-journal/src/core/conditions.ts";
import { type BranchName, refOf } from "../../../packages/git-journal/src/core/git/branch-name.ts";
import type { Repository } from "../../../packages/git-journal/src/core/located.ts";
import {
  afterAnswer,
  afterUse,
  askedIn,
  type Checked,
  fingerprintOf,
  isOfRepository,
  lookedAtIn,
  readinessAfter,
  refusedAmong,
} from "../../../packages/git-journal/src/core/repository-check.ts";
import { repositoryUrl } from "../../../packages/git-journal/src/core/repository-url.ts";
import { right } from "./right.ts";

const repository = (branches: readonly string[] = ["main"]): Repository => {
  const [first, ...others] = branches as readonly BranchName[];
  return {
    url: right(repositoryUrl("https://alice:secret@git.example.com/live.git")),
    branches: [first ?? ("main" as BranchName), ...others],
    secret: "shop/cred",
    findings: [],
  };
};

const QUESTION = { fingerprint: fingerprintOf(repository()), secretVersion: "1" };
const MAIN = "main" as BranchName;
const FOUND: Checked["answer"] = E.right(new Set([refOf(MAIN)]));
const failed = (lasts: boolean): Checked["answer"] => E.left({ type: "failed", reason: "R", message: "", lasts });

/** After so many answers in a row, at time 0. */
const checked = (answer: Checked["answer"], times = 1): Checked =>
  Array.from({ length: times }).reduce<Checked | undefined>(
    (before) => afterAnswer(before, QUESTION, answer, 0),
    undefined,
  ) ?? afterAnswer(undefined, QUESTION, answer, 0);

describe("a server is asked", () => {
  it("at first, and at once after its repository or Secret has changed", () => {
    expect(askedIn(undefined, QUESTION, 0)).toBe(0);
    for (const other of [{ secretVersion: "2" }, { secretVersion: undefined }, { fingerprint: "other" }])
      expect(askedIn(checked(failed(true)), { ...QUESTION, ...other }, 1)).toBe(0);
  });

  it.each<readonly [string, Checked, number]>([
    ["seldom while it can be used", checked(FOUND), 600_000],
    ["seldom while it refuses: wrong credentials that are sent often lock an account", checked(failed(true)), 300_000],
    ["soon after a failure that may pass", checked(failed(false)), 5_000],
    ["less soon after several", checked(failed(false), 3), 20_000],
    ["twice a minute after many", checked(failed(false), 50), 30_000],
  ])("%s", (_, one, ms) => {
    expect(askedIn(one, QUESTION, 0)).toBe(ms);
    expect(askedIn(one, QUESTION, ms)).toBe(0);
  });
});

it("while a repository cannot be used, its Secret is looked at within 30 s", () => {
  for (const lasts of [true, false])
    for (const now of [0, 10_000, 290_000]) expect(lookedAtIn(checked(failed(lasts), 9), now)).toBeLessThan(30_000);
});

it("a server that a worker has used is not asked soon, but at once if it was said otherwise before", () => {
  expect(askedIn(afterUse(checked(FOUND), MAIN, 500_000), QUESTION, 600_000)).toBe(500_000);
  expect(askedIn(afterUse(checked(FOUND), "dev" as BranchName, 1), QUESTION, 1)).toBe(0);
  expect(askedIn(afterUse(checked(failed(true)), MAIN, 1), QUESTION, 1)).toBe(0);
});

it("a branch that takes no push says nothing of its repository", () => {
  const troubles = ["AuthenticationFailed", "PushRefused", "DiskFull", "RepositoryTooLarge"].map(
    (reason) => ({ type: "failed", reason, message: "", lasts: true }) as const,
  );
  expect(troubles.map(isOfRepository)).toEqual([true, false, false, false]);
});

const because = (reason: string, lasts: boolean) => ({ type: "failed", reason, message: "", lasts }) as const;

it("refused is what stays so until somebody changes something, and who has no Secret", () => {
  const all = new Map<string, Readiness>([
    ["shop/wrong", because("AuthenticationFailed", true)],
    ["shop/none", because("SecretNotFound", false)],
    ["shop/down", because("ConnectionFailed", false)],
    ["shop/fine", { type: "ready", reason: "BranchFound", message: "" }],
  ]);
  expect([...refusedAmong(all)]).toEqual(["shop/wrong", "shop/none"]);
});

it("a branch that is missing is no error", () => {
  expect(readinessAfter(repository(["main", "dev"]), checked(FOUND))).toEqual({
    type: "ready",
    reason: "BranchFound",
    message: "https://git.example.com/live.git: found branch main; branch dev will be made by the first push",
  });
});
