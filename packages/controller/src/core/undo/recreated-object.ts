// Builds the object that is created again from a snapshot.
import type { KubeObject } from "@janus/types";
import { withoutEphemeral } from "../merge/ephemeral-containers.ts";
import { withServerMutations } from "../merge/server-mutations.ts";
import { recreateBody } from "../merge/write-body.ts";
import { livingOwners } from "../snapshots/owner-references.ts";
import { rollbackIn } from "../state/observations.ts";
import { withoutOldToken } from "./service-account-token.ts";
import type { UndoContext } from "./undo-context.ts";

/** The part of a deleted object that can be created again. */
export const recreatable = ({ context: { txn }, journal }: UndoContext, before: KubeObject): KubeObject =>
  withoutOldToken(txn, journal, withoutEphemeral(before));

/** The body that is sent to create it. */
export const creationBody = ({ place, context: { txn }, journal }: UndoContext, wanted: KubeObject): object =>
  recreateBody(wanted, place, txn.metadata, livingOwners(txn, journal, wanted));

/** The object as the API server answered when it was created, if this process got that and has it in memory. */
export const knownGoal = ({ context: { known }, index }: UndoContext): KubeObject | undefined =>
  rollbackIn(known, index).goal;

/** The same; if it is not known, by the live object, which others may have modified. */
export const goalOf = (undoContext: UndoContext, wanted: KubeObject, live: KubeObject): KubeObject =>
  knownGoal(undoContext) ?? withServerMutations(wanted, creationBody(undoContext, wanted), live, undoContext.place);
