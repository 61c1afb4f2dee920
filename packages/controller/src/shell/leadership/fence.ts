import { randomUUID } from "node:crypto";
import type { Api, Request, Term } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

/** Of the user extra that bears the token. */
export const FENCED = "janus.io/fence";

/** Of the admission policy. */
const POLICY = "janus-fence";

type Answer = Awaited<ReturnType<Api["send"]>>;

const isWrite = ({ verb }: Request): boolean => verb !== "get" && verb !== "list" && verb !== "raw";

/** The request as of this term: a write to a target, which is impersonated, bears a token of it. */
export const bearing = (token: string, request: Request): Request =>
  request.as === undefined || !isWrite(request)
    ? request
    : { ...request, as: { ...request.as, extra: { ...request.as.extra, [FENCED]: token } } };

/**
 * Of one request. The policy compares the term, and repeats all of it when it refuses. What comes after the term nobody can have
 * put into a name, an annotation or a message beforehand.
 */
export const tokenOf = ({ holder, transitions }: Term): string => `${holder}/${transitions}/${randomUUID()}`;

const isInvalid = (answer: Answer): answer is Extract<Answer, { readonly _tag: "Left" }> =>
  E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 422;

/** The policy, and nobody else, says that the term is over: an author can have any other words said. */
export const isFenced = (answer: Answer, token: string): boolean =>
  isInvalid(answer) && answer.left.message.includes(token);

/** It seems to be the policy, but not of this version: it does not repeat the token. */
export const isUnrepeated = (answer: Answer, token: string): boolean =>
  isInvalid(answer) &&
  answer.left.message.includes(`ValidatingAdmissionPolicy '${POLICY}' with`) &&
  !isFenced(answer, token);

/** What is known of the policy. */
export interface FenceStatus {
  /** Whether it has been looked at. */
  readonly isSeen: () => boolean;
  /** Whether it refuses the term that is now: then it would refuse everything, and nothing is fenced. */
  readonly isStale: () => boolean;
}

/**
 * The API server, for one term of leading. The admission policy that is installed along with the controller refuses writes
 * to targets in a term that is over.
 *
 * Guarantees: only the policy's own refusal counts as one; but before it was looked at, one of an older version does, too.
 *
 * @param onRefused the policy says that the term is over
 */
export const fenced = (api: Api, term: Term, { isSeen, isStale }: FenceStatus, onRefused: () => void): Api => ({
  watch: api.watch,
  send: async (request) => {
    const token = tokenOf(term);
    const answer = await api.send(isStale() ? request : bearing(token, request));
    const isRefused = isFenced(answer, token);
    if (isRefused) onRefused();
    return isRefused || (!isSeen() && isUnrepeated(answer, token))
      ? E.mapLeft((error: Extract<Answer, { readonly _tag: "Left" }>["left"]) => ({ ...error, fenced: true as const }))(
          answer,
        )
      : answer;
  },
});
