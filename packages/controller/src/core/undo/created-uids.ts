// The uids of objects that the Transaction or its rollback has created.
import { deletes } from "@janus/api";
import { recordedBefore } from "../snapshots/prior-state.ts";
import { stateOf } from "../state/journal.ts";
import type { UndoContext } from "./undo-context.ts";

type Progress = Pick<UndoContext, "journal" | "context">;

/** Whether what is recorded as created is what the rollback has created again. */
const isRecreating = ({ journal, context: { txn } }: Progress, index: number): boolean => {
  const change = txn.spec.changes[index];
  return change !== undefined && deletes(change) && recordedBefore(txn, journal, index).existed;
};

const uids = (progress: Progress, isMeant: (index: number) => boolean): readonly string[] => {
  const { journal, context } = progress;
  return context.txn.spec.changes.flatMap((_, index) => {
    const state = context.txn.status.items[index]?.state;
    const recorded = state !== undefined && "created" in state ? state.created : undefined;
    return isMeant(index) ? [journal.created.get(index) ?? recorded ?? []].flat() : [];
  });
};

/** The uids of all objects that this Transaction has created, and that were not there before. */
export const createdUids = (progress: Progress): ReadonlySet<string> =>
  new Set([
    ...uids(progress, (index) => !isRecreating(progress, index)),
    ...[...progress.journal.replaced.values()].filter((uid) => uid !== ""),
  ]);

/** The uids of the objects that its rollback has created again. */
export const recreatedUids = (progress: Progress): ReadonlySet<string> => {
  const replacements = new Set(progress.journal.replaced.values());
  return new Set(uids(progress, (index) => isRecreating(progress, index)).filter((uid) => !replacements.has(uid)));
};

/** The uids of the objects that it has created, and that were not rolled back, for a reason: they must not go with another one. */
export const keptUids = ({ journal, context: { txn } }: Progress): ReadonlySet<string> =>
  new Set(
    txn.status.items.flatMap(({ state: recorded }, index) => {
      const state = stateOf(recorded, index, journal);
      return state.type === "rollback-failed" ? (state.created ?? []) : [];
    }),
  );
