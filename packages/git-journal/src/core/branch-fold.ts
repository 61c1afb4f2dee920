// Folds what has happened into what is known of a branch.
import type { Instant } from "@janus/types";
import { BEGUN, compareFrom, inResource } from "./branch-changes.ts";
import type { BranchEvent } from "./branch-event.ts";
import type { BranchState } from "./branch-state.ts";
import { listed, seen } from "./fold-objects.ts";
import { ended, failed, landed } from "./fold-outcomes.ts";
import { known, targetRead, withoutTransaction } from "./fold-transactions.ts";
import { wanted } from "./fold-wanted.ts";
import { forgotten } from "./history.ts";
import { largeMap } from "./large-map.ts";

/**
 * Returns what is known of a branch after an event.
 *
 * Guarantees: pure and total; an object that a failed list lacks is not taken for one that is gone.
 */
export const afterEvent = (state: BranchState, event: BranchEvent, now: Instant): BranchState => {
  switch (event.type) {
    case "wanted":
      return wanted(state, event.branch, event, now);
    case "listing":
      return inResource(state, event.resource, (one) =>
        one.version === event.version ? { ...one, list: BEGUN } : one,
      );
    case "listed":
      return listed(state, event, now);
    case "complete":
      return {
        ...inResource(state, event.resource, (one) => ({ ...one, list: { is: "complete" } })),
        toCompare: compareFrom(state, now, false),
      };
    case "listFailed":
      return inResource(state, event.resource, (one) => ({
        ...one,
        list: { is: "failed", because: event.because, isAgain: one.list.is === "failed" },
      }));
    case "seen":
      return seen(state, event.file, event.by, now);
    case "transaction":
      return known(state, event.transaction, now);
    case "transactionGone":
      return withoutTransaction(state, event.uid);
    case "transactionsKnown":
      return { ...state, areTransactionsKnown: true };
    case "targetRead":
      return targetRead(state, event.uid, event.file, now);
    case "lease":
      return {
        ...state,
        lease: event.is,
        idleSince: undefined,
        ...(event.is === "held" ? { fetchedAt: undefined } : {}),
      };
    case "landed":
      return landed(state, event.head);
    case "compared": {
      const { comparison } = event;
      return {
        ...state,
        comparison,
        blobs: largeMap(comparison.blobs),
        format: comparison.format,
        destinations: new Map(
          [...state.destinations].map(([name, one]) => {
            const { ownership, resumesFrom } = comparison.destinations.get(name) ?? one;
            return [name, { ...one, ownership, resumesFrom }];
          }),
        ),
      };
    }
    case "made":
      return { ...state, made: new Map([...state.made].slice(-1)).set(event.head, event.commits) };
    case "loaded": {
      const history = [...event.lost].reduce(forgotten, state.history);
      const { comparison } = state;
      return {
        ...state,
        history,
        comparison: comparison && { ...comparison, missing: new Map() },
        toCompare: compareFrom(state, now, true),
      };
    }
    case "ended":
      return ended(state, event, now);
    case "troubled":
      return failed(state, { reason: event.reason, message: event.message, lasts: event.lasts }, now);
  }
};
