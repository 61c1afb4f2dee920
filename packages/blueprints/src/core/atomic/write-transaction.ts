// Writes to a Transaction that is still as it was read; a conflict is judged by what is there.
import { type ApiError, isAbsent, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Effect } from "../effect.ts";
import type { Answer } from "../memory.ts";
import type { Inquiry } from "../requests.ts";

const isConflict = (error: ApiError): boolean => isAbsent(error) || (error.type === "refused" && error.code === 409);

/** The most tries of a write that meets a conflict although nothing has changed. */
const TRIES = 3;

/**
 * Writes, and returns the answer; moved: it is gone, or no longer as it was read. Undefined: still to be asked for.
 *
 * @param request of the write and of the read by which a conflict is judged, by the names of their answers
 */
export const written = (
  ask: Inquiry["ask"],
  fact: string,
  request: { readonly write: (fact: string) => Effect; readonly read: (fact: string) => Effect },
  isStill: (found: KubeObject) => boolean,
  tried = 0,
): Answer | "moved" | undefined => {
  const answer = ask(request.write(`${fact}/${tried}`));
  if (answer === undefined || E.isRight(answer) || !isConflict(answer.left)) return answer;
  const there = ask(request.read(`${fact}/${tried}/there`));
  if (there === undefined) return undefined;
  if (E.isLeft(there)) return isAbsent(there.left) ? "moved" : there;
  if (!isStill(there.right)) return "moved";
  return tried + 1 < TRIES ? written(ask, fact, request, isStill, tried + 1) : answer;
};
