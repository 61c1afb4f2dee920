// Says what a decision has recorded: in the journal, and in the status of the Transaction.
import { decodeJournal, type Journal } from "../../packages/controller/src/core/state/journal.ts";
import { journalPlace } from "../../packages/controller/src/core/state/journal.ts";
import { objectAt } from "../../packages/testing/src/api-server/world.ts";
import type { State } from "../../packages/testing/src/controller/state.ts";
import type { Decision } from "./life.ts";

const journalOf = ({ world, txn }: State): Journal | undefined => {
  const object = objectAt(world, journalPlace(txn));
  return object === undefined ? undefined : decodeJournal(object, txn.spec.changes.length);
};

/** The words of docs/internals.md for where the journal stands. */
const positionIn = ({ position }: Journal, changes: number): string => {
  const { cursor } = position;
  if (position.direction === "back")
    return cursor < 0
      ? "the rollback of every change is done"
      : `rolling back; the rollback of changes[${cursor}] may be in flight`;
  const applied = cursor === 0 ? "no change is applied" : `changes before changes[${cursor}] are applied`;
  if (cursor === changes) return "every change is applied";
  return position.gatedSince === undefined
    ? `${applied}; changes[${cursor}] may be in flight`
    : `${applied}; their gates are awaited`;
};

/** What else the journal has: the last word of a change that is neither applied nor simply restored. */
const notesIn = ({ created, notes, deferred }: Journal): readonly string[] => [
  ...[...created.keys()].map((index) => `changes[${index}] created its target`),
  ...[...notes].map(([index, { type }]) => `changes[${index}] is ${type}`),
  ...[...deferred.keys()].map((index) => `the rollback of changes[${index}] is deferred`),
];

const inJournal = (state: State): string | undefined => {
  const journal = journalOf(state);
  if (journal === undefined) return undefined;
  const { changes } = state.txn.spec;
  const { direction, cursor } = journal.position;
  const said = [positionIn(journal, changes.length), ...notesIn(journal)].join("; ");
  return `journal: ${direction}, cursor ${cursor} (${said})`;
};

const itemsOf = ({ txn }: State): string => txn.status.items.map(({ state }) => state.type).join(", ");

const readyOf = ({ txn }: State): string => {
  const ready = txn.status.conditions.find(({ type }) => type === "Ready");
  return ready === undefined ? "" : `Ready is ${ready.status}, ${ready.reason}: ${ready.message}`;
};

/** What is another than before, in words. */
const changed = (
  { before, after }: Decision,
  told: (state: State) => string | undefined,
  ifGone: string,
): readonly string[] => (told(before) === told(after) ? [] : [told(after) ?? ifGone]);

/** What a new process would find, and did not find before this decision. */
export const recorded = (decision: Decision): readonly string[] => [
  ...changed(decision, ({ txn }) => `status.phase: ${txn.status.phase}`, ""),
  ...changed(decision, (state) => `status.items: ${itemsOf(state)}`, ""),
  ...changed(decision, (state) => readyOf(state), ""),
  ...changed(decision, inJournal, "the journal is deleted"),
];
