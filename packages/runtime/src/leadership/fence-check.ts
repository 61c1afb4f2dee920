// Checks by dry runs whether the API server rejects writes of an old term.
import { leases, messageOf } from "@janus/types";
import type { Api, ApiError, Request, Resource } from "@janus/kube";
import { isOfTerm, leaderRecordOf, type LeasePlace, readLease, type Term } from "../leader-election/leader-lease.ts";
import * as E from "fp-ts/lib/Either.js";
import { type FenceNames, withToken, isFenced, isUnrepeated, tokenOf } from "./fence.ts";

/**
 * up:    the API server rejects writes of an old term, and no others.
 * down:  it admits them.
 * stale: it compares with an outdated Lease, and rejects the current term.
 * other: the policy is of another version: it rejects every token, or its rejection does not repeat the token.
 */
export type FenceCheck = "up" | "down" | "stale" | "other";

const selfSubjectReviews: Resource = {
  group: "authentication.k8s.io",
  version: "v1",
  plural: "selfsubjectreviews",
  kind: "SelfSubjectReview",
  namespaced: false,
  statusSubresource: false,
};

const whoAmI: Request = {
  verb: "create",
  purpose: "fence-check",
  resource: selfSubjectReviews,
  body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
};

/** No actual term: these are counted from 1. */
const neverCurrent: Term = { holder: "nobody", transitions: -1 };

/**
 * Checks how the API server treats tokens: it sends the dry run of a write in an old term and, if that is rejected, of one in
 * our own term, as the controller itself. A rejection of our own term counts only if we still hold the Lease afterwards.
 *
 * @returns Left: why it is unknown.
 */
export const checkFence = async (
  api: Api,
  names: FenceNames,
  place: LeasePlace,
  term: Term,
): Promise<E.Either<string, FenceCheck>> => {
  const review = await api.send(whoAmI);
  if (E.isLeft(review)) return E.left(messageOf(review.left));
  const { userInfo } = review.right["status"] as { readonly userInfo: { readonly username: string } };
  const isRefused = async (of: Term): Promise<E.Either<ApiError, boolean | "other">> => {
    const token = tokenOf(of);
    const answer = await api.send(withToken(names, token, probe(place.namespace, names.check, userInfo.username)));
    if (isUnrepeated(names, answer, token)) return E.right("other");
    return isFenced(answer, token) ? E.right(true) : E.map(() => false)(answer);
  };
  const old = await isRefused(neverCurrent);
  if (E.isLeft(old)) return E.left(messageOf(old.left));
  if (old.right === "other") return E.right("other");
  if (!old.right) return E.right("down");
  const own = await isRefused(term);
  if (E.isLeft(own)) return E.left(messageOf(own.left));
  if (!own.right) return E.right("up");
  const lease = await api.send(readLease(place));
  if (E.isLeft(lease)) return E.left(messageOf(lease.left));
  return isOfTerm(leaderRecordOf(lease.right), term) ? E.right("stale") : E.left("the Lease is held by another client");
};

const probe = (namespace: string, name: string, user: string): Request => ({
  verb: "create",
  purpose: "fence-check",
  resource: leases,
  namespace,
  as: { user },
  dryRun: true,
  body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec: {} },
});
