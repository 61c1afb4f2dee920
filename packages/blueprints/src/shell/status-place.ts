// Finds out where the status of ActionSets is written: as the definition of Kanister has it, or as a subresource.
import { type Api, discovery } from "@janus/kube";
import { type ApiError, classify } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { actionSets, GROUP, VERSION } from "../api/names.ts";

export interface StatusPlace {
  /** Asks the API server, if it is not known. Left: it cannot be found out now. */
  readonly find: () => Promise<E.Either<ApiError, boolean>>;
  readonly isApart: () => boolean;
  /** An answer has shown that it is another one by now: it is asked for again before anything else is decided. */
  readonly forget: () => void;
}

const look = async (api: Api): Promise<E.Either<ApiError, boolean>> => {
  const found = await discovery(api).resource(`${GROUP}/${VERSION}`, actionSets.kind);
  if (E.isRight(found)) return E.right(found.right.statusSubresource);
  const { left } = found;
  if (left.type === "unknown") return E.left({ type: "unanswered", cause: "malformed", message: left.message });
  // A controller that may not ask learns it from the answers to writes.
  return classify(left) === "permanent" ? E.right(false) : E.left(left);
};

/** Guarantees: one request for all that ask, until an answer to a write shows that another is needed. */
export const statusPlace = (api: Api): StatusPlace => {
  let isApart = false;
  let finding: Promise<E.Either<ApiError, boolean>> | undefined;
  return {
    find: async () => {
      const asked = (finding ??= look(api));
      const found = await asked;
      if (E.isRight(found)) isApart = found.right;
      else if (finding === asked) finding = undefined;
      return found;
    },
    isApart: () => isApart,
    forget: () => void (finding = undefined),
  };
};
