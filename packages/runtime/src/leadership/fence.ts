// Adds the leader's term to writes of targets, and recognises rejections by the fence.
import { randomUUID } from "node:crypto";
import type { Api, Request } from "@janus/kube";
import type { Term } from "../leader-election/leader-lease.ts";
import * as E from "fp-ts/lib/Either.js";

type Answer = Awaited<ReturnType<Api["send"]>>;

/** The names by which the controller and its installation know the fence. */
export interface FenceNames {
  /** The user extra with the token. */
  readonly key: string;
  /** The ValidatingAdmissionPolicy. */
  readonly policy: string;
  /** The Lease that is written by dry run, to see whether the policy is in force. */
  readonly check: string;
}

const isWrite = ({ verb }: Request): boolean => verb !== "get" && verb !== "list" && verb !== "raw";

/** The request with the token: a write to a target, which is impersonated, carries it as a user extra. */
export const withToken = ({ key }: FenceNames, token: string, request: Request): Request =>
  request.as === undefined || !isWrite(request)
    ? request
    : { ...request, as: { ...request.as, extra: { ...request.as.extra, [key]: token } } };

/**
 * The token of one request. The policy compares the term, and repeats the whole token in its rejection. The part after the
 * term is random, so that no name, annotation or message can contain it beforehand.
 */
export const tokenOf = ({ holder, transitions }: Term): string => `${holder}/${transitions}/${randomUUID()}`;

const isInvalid = (answer: Answer): answer is Extract<Answer, { readonly _tag: "Left" }> =>
  E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 422;

/** Whether the policy itself rejected the request: other messages can be forged, the token cannot. */
export const isFenced = (answer: Answer, token: string): boolean =>
  isInvalid(answer) && answer.left.message.includes(token);

/** Whether it looks like a rejection by another version of the policy, which does not repeat the token. */
export const isUnrepeated = ({ policy }: FenceNames, answer: Answer, token: string): boolean =>
  isInvalid(answer) &&
  answer.left.message.includes(`ValidatingAdmissionPolicy '${policy}' with`) &&
  !isFenced(answer, token);

/** The observed state of the policy. */
export interface FenceStatus {
  /** Whether it was checked. */
  readonly isSeen: () => boolean;
  /** Whether it rejects the current term: then it would reject every write, so no token is sent. */
  readonly isStale: () => boolean;
}

/**
 * The API server, for one term of leadership. The admission policy that is installed along with the controller rejects
 * writes to targets by a stale leader.
 *
 * Guarantees: only a rejection by the policy itself counts; before it was checked, one by an older version does, too.
 *
 * @param onRefused the policy has rejected the term
 */
export const fenced = (
  api: Api,
  names: FenceNames,
  term: Term,
  { isSeen, isStale }: FenceStatus,
  onRefused: () => void,
): Api => ({
  watch: api.watch,
  send: async (request) => {
    const token = tokenOf(term);
    const answer = await api.send(isStale() ? request : withToken(names, token, request));
    const isRefused = isFenced(answer, token);
    if (isRefused) onRefused();
    return isRefused || (!isSeen() && isUnrepeated(names, answer, token))
      ? E.mapLeft((error: Extract<Answer, { readonly _tag: "Left" }>["left"]) => ({ ...error, fenced: true as const }))(
          answer,
        )
      : answer;
  },
});
