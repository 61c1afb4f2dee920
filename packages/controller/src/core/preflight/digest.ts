// Computes the digest of a render, which is what is approved.
import { memoized } from "@janus/types";
import { Spec, type Transaction } from "@janus/api";
import { contentsObjects } from "../state/contents.ts";
import { type Observations, trialIn } from "../state/observations.ts";
import { isTooDeep, TOO_DEEP } from "../kubernetes/nesting.ts";
import { itemsOf } from "../state/resolved-changes.ts";
import { hashOf, unknownYet } from "./dry-run-result.ts";

/**
 * Everything of spec that is edited, and not what moves it through its lifecycle. Of what is nested too deep nothing is told apart:
 * it is never executed.
 */
export const contentDigest = memoized(({ spec }: Transaction): string => {
  if (isTooDeep(spec)) return `sha256:${hashOf(TOO_DEEP)}`;
  const { approvedDigest: _, ...content } = spec;
  return `sha256:${hashOf(Spec.encode({ ...content, lifecycle: "Draft" }))}`;
});

/** Hashes the part of spec that decides what is done: not how long a Draft is kept. */
const specHash = memoized(({ spec }: Transaction): string => {
  const { approvedDigest: _, draftTTL: __, ...rest } = spec;
  return hashOf(Spec.encode({ ...rest, lifecycle: "Published" }));
});

/**
 * The digest of what is approved: the spec with all contents, and what it would do to each target.
 *
 * Guarantees: depends on the spec and on the fields of the targets that the changes modify; not on generation, lifecycle,
 *             times, statuses, resourceVersions (but of sensitive kinds, whose values do not count) or restarts.
 * Assumes:    every change was tried, and none has problems.
 */
export const approvalDigest = (txn: Transaction, known: Observations): string =>
  `sha256:${hashOf([
    "janus render 1",
    specHash(txn),
    itemsOf(txn, known).map((item) => trialIn(known, item.index)?.shown?.hash ?? unknownYet(item)),
    // Not whose data it is: an object that was created again with the same data is what was approved.
    ...contentsObjects(txn, known).map(({ kind, name, digest }) => [kind, name, digest]),
  ])}`;
