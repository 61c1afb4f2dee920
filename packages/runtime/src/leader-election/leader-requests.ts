// Builds the request of a candidate in each state, and interprets its response.
import * as E from "fp-ts/lib/Either.js";
import type { Request } from "@janus/kube";
import type { ApiError, KubeObject } from "@janus/types";
import { claimLease, type LeasePlace, readLease, releaseLease, renewLease } from "./leader-lease.ts";
import type { ElectionState, Candidate, ElectionInput } from "./election-state.ts";

/** The request of a candidate in this state; undefined if it waits. @param wall ms since the epoch */
export const callOf = (
  state: ElectionState,
  place: LeasePlace,
  { timing }: Candidate,
  wall: number,
): Request | undefined => {
  switch (state.type) {
    case "looking":
    case "checking":
      return readLease(place);
    case "claiming":
      return claimLease(place, state.term, state.observed.record?.resourceVersion, timing.leaseDuration, wall);
    case "renewing":
      return renewLease(place, state.heldTerm.resourceVersion, timing.leaseDuration, wall);
    case "releasing":
      return releaseLease(place, state.heldTerm.resourceVersion, wall);
    case "standby":
    case "leading":
    case "over":
      return undefined;
  }
};

/** Returns the meaning of the response to the request. */
export const inputOf = ({ verb }: Request, answer: E.Either<ApiError, KubeObject>): ElectionInput => {
  if (E.isRight(answer))
    return { type: verb === "get" ? "read" : "written", lease: answer.right } satisfies ElectionInput;
  const error = answer.left;
  if (error.type === "unanswered") return { type: "failed", reason: error.message };
  if (verb === "get" && error.notFound === "object") return { type: "read", lease: undefined };
  // A create is answered with 404 where its namespace does not exist.
  if (verb !== "get" && (error.code === 409 || (verb !== "create" && error.notFound === "object")))
    return { type: "conflict" };
  return { type: "failed", reason: error.message };
};
