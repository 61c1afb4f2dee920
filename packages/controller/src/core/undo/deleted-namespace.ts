import { stateOf } from "../state/journal.ts";
import { deletedOwners, isMade, isGarbageCollected } from "../snapshots/owner-references.ts";
import type { UndoContext } from "./undo-context.ts";
import type { KubeObject } from "@janus/types";

/** The Namespace of the target, if this Transaction has deleted it and it was not rolled back, in words. */
export const lostHome = ({ situation: { txn }, journal, place }: UndoContext): string | undefined => {
  const home = txn.spec.changes.findIndex(
    ({ type, target }, index) =>
      type === "Delete" &&
      target.apiVersion === "v1" &&
      target.kind === "Namespace" &&
      target.name === place.namespace &&
      isMade(journal, index) &&
      stateOf(txn.status.items[index]?.state ?? { type: "untouched" }, index, journal).type !== "restored",
  );
  return home === -1
    ? undefined
    : `Namespace ${place.namespace}, which changes[${home}] deleted: that cannot be undone`;
};

/** What this Transaction has deleted, and the target with it, in words. */
export const wentWith = (undone: UndoContext, before: KubeObject): string | undefined => {
  const { situation, journal } = undone;
  const owners = isGarbageCollected(situation.txn, journal, before)
    ? deletedOwners(situation.txn, journal, before)
    : [];
  const named = owners.map((index) => `changes[${index}]`).join(" and ");
  return lostHome(undone) ?? (owners.length === 0 ? undefined : `its owner, which ${named} deleted`);
};
