import { stateOf } from "../state/journal.ts";
import type { UndoContext } from "./undo-context.ts";

type Progress = Pick<UndoContext, "journal" | "context">;

const uids = ({ journal, context: { txn } }: Progress, isMeant: (type: string) => boolean): ReadonlySet<string> =>
  new Set(
    txn.spec.changes.flatMap(({ type }, index) => {
      const state = txn.status.items[index]?.state;
      const recorded = state !== undefined && "created" in state ? state.created : undefined;
      return isMeant(type) ? [journal.created.get(index) ?? recorded ?? []].flat() : [];
    }),
  );

/** The uids of all objects that this Transaction has created, and that were not there before. */
export const createdUids = (progress: Progress): ReadonlySet<string> => uids(progress, (type) => type !== "Delete");

/** The uids of the objects that its rollback has created again. */
export const recreatedUids = (progress: Progress): ReadonlySet<string> => uids(progress, (type) => type === "Delete");

/** The uids of the objects that it has created, and that were not rolled back, for a reason: they must not go with another one. */
export const keptUids = ({ journal, context: { txn } }: Progress): ReadonlySet<string> =>
  new Set(
    txn.status.items.flatMap(({ state: recorded }, index) => {
      const state = stateOf(recorded, index, journal);
      return state.type === "rollback-failed" ? (state.created ?? []) : [];
    }),
  );
