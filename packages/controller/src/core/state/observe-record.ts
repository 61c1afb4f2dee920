// Folds the answers to writes of the Transaction itself, except conflicts and refusals (`observe.ts`), and what else is seen of it.
import { isAbsent } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ownerUids } from "../kubernetes/kube-object.ts";
import { withLockReleased, withReported } from "./cleanup.ts";
import type { RecordFault, RecordFold } from "./fold.ts";
import type { Faults, Folds } from "./folding.ts";
import { mapChanges, reset } from "./observations.ts";
import type { PreflightObservations } from "./preflight-observations.ts";
import { reportedRetry } from "./retry-status.ts";

const withoutResult = (preflight: PreflightObservations | undefined): PreflightObservations | undefined =>
  preflight?.trial === undefined
    ? preflight
    : { ...preflight, trial: { of: preflight.trial.of, problems: preflight.trial.problems } };

export const recordFolds: Folds<RecordFold> = {
  "status-written": (known, _, { answer, sent, at }) => ({
    ...known,
    statusWritten: { sent, answered: at },
    ...(E.isRight(answer) ? { hasRecorded: true } : {}),
  }),
  // After a conflict, another process may have begun it.
  begun: (known, _, { answer }) => (E.isRight(answer) ? { ...known, begun: true } : known),
  // The state before the first change is what rollback restores: if it is in memory, it need not be read again.
  prepared: (known) => ({
    ...mapChanges(known, ({ target, ...observed }) => ({
      ...observed,
      preflight: withoutResult(observed.preflight),
      snapshot: undefined,
      before: target?.type === "read" ? target.object : undefined,
      ownersBefore: target?.object === undefined ? undefined : ownerUids(target.object),
    })),
    owned: new Map(),
  }),
  // A kind that was not served may be served by now.
  "rollback-restarted": (known, { at }) => reset({ ...known, resources: new Map() }, at),
  "retry-reported": (known, { at }) => reportedRetry(known, at),
  "problem-reported": (known, { message }) => ({ ...known, cleanup: withReported(known.cleanup, message) }),
  // If this is unknown, it counts as not being deleted: requests of users are honored as long as possible.
  "namespace-read": (known, _, { answer, at }) => ({
    ...known,
    namespace: {
      isGoing: E.isLeft(answer) ? isAbsent(answer.left) : answer.right.metadata.deletionTimestamp !== undefined,
      readAt: at,
    },
  }),
  "lock-unread": (known, _, { effect: { item: index = -1 }, answer }) =>
    E.isRight(answer) ? known : { ...known, cleanup: withLockReleased(known.cleanup, index) },
  expired: (known) => ({ ...known, cleanup: { ...known.cleanup, isExpired: true } }),
};

export const recordFaults: Faults<RecordFault> = {
  "retry-maybe-reported": (known, { at }) => reportedRetry(known, at),
};
