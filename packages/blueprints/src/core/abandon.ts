// Ends an ActionSet that no controller will end: one that was running under Kanister.
import type { JsonObject } from "@janus/types";
import type { ActionSet } from "../api/action-set.ts";
import { hasFinalizer, isTerminal } from "./after-end.ts";

/** Says why an ActionSet must not be ended this way; undefined: it may. */
export const cannotAbandon = (actionSet: ActionSet): string | undefined => {
  const { status } = actionSet;
  if (isTerminal(status?.state)) return `it has ended: it is ${status?.state}`;
  if (hasFinalizer(actionSet)) return "the controller has taken it up, and ends it: to stop it, delete it";
  return status?.state === "running" ? undefined : "it is not running: the controller has yet to begin it";
};

/** The merge patch that ends it, if it is still the one that was read. */
export const abandoned = ({ metadata }: ActionSet): JsonObject => ({
  metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
  status: {
    state: "failed",
    error: { message: "abandoned: it was running without a journal, and nobody knows what its phases have done" },
  },
});
