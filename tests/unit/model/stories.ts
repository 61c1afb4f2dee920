import type { Type } from "./scenario.ts";
import type { Budget } from "./state.ts";

export interface Story {
  readonly types: readonly Type[];
  readonly left: Partial<Budget>;
  readonly schedule: readonly string[];
  readonly phase: string;
}

/**
 * Schedules that the exploration found, and that once ended badly. `stories.test.ts` plays them in the model, and
 * `tests/crash/stories.test.ts` on the real API server.
 */
export const stories: Readonly<Record<string, Story>> = {
  "a deletion that was given up, arrives after the look at its target and has its second sending find nothing": {
    types: ["Create", "Delete"],
    left: { all: 1, late: 1 },
    schedule: [
      "change: delete Widget shop/b → no answer, it is still under way",
      "read-target: get Widget shop/b → ok",
      "the delete Widget shop/b that was given up arrives late: ok",
      'change: delete Widget shop/b → widgets.example.com "b" not found',
    ],
    phase: "Committed",
  },
  "an update that was given up, and arrives when its second sending was denied": {
    types: ["Update"],
    left: { all: 2, late: 1, refused: 1 },
    schedule: [
      "change: update Widget shop/a → no answer, it is still under way",
      "change: update Widget shop/a → denied by admission",
      "the update Widget shop/a that was given up arrives late: ok",
    ],
    phase: "Committed",
  },
  "somebody takes over a field of an object that was created again, before its former owners are back": {
    types: ["Delete", "Create"],
    left: { all: 2, refused: 1, others: 1 },
    schedule: [
      "change: create Widget shop/b → denied by admission",
      "restore: create Widget shop/a → ok",
      "somebody edits another field of Widget shop/a",
      'restore: update Widget shop/a → Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
    ],
    phase: "RolledBack",
  },
  "two snapshots that were never recorded, and a crash between the deletion of one and of the other": {
    types: ["Update"],
    left: { all: 3, lost: 1, crash: 2 },
    schedule: [
      "store: create ConfigMap shop/txn-rollback → no answer, though it was made",
      "store: create ConfigMap shop/txn-rollback-1 → ok",
      "the process dies; long after, another one takes over",
      "release-store: delete ConfigMap shop/txn-rollback → ok",
      "the process dies; another one takes over",
    ],
    phase: "Failed",
  },
  "a rollback asked for when everything was in and the journal did not say so yet, whose checkpoint was not answered": {
    types: ["Update"],
    left: { all: 2, lost: 1, wishes: 1 },
    schedule: [
      "change: update Widget shop/a → ok",
      "somebody asks for a rollback of Transaction shop/txn",
      'record: mergePatch Transaction shop/txn → Operation cannot be fulfilled on transactions.backup.janus.io "txn": the object has been modified; please apply your changes to the latest version and try again',
      "checkpoint: mergePatch ConfigMap shop/janus-journal-u-txn → no answer, though it was made",
    ],
    phase: "RolledBack",
  },
};
