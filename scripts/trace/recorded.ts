// Says what a decision has recorded: in the journal, and in the status of the Transaction.
import { encodeStatus, type Transaction } from "../../packages/api/src/index.ts";
import { decodeJournal, type Journal, journalPlace } from "../../packages/controller/src/core/state/journal.ts";
import { objectAt } from "../../packages/testing/src/api-server/world.ts";
import type { State } from "../../packages/testing/src/controller/state.ts";
import type { Decision } from "./life.ts";

const journalOf = ({ world, txn }: State): Journal | undefined => {
  const object = objectAt(world, journalPlace(txn));
  return object === undefined ? undefined : decodeJournal(object, txn.spec.changes.length);
};

/** The first of these changes, by their number. */
const firstOf = (count: number): string =>
  ["no change is", "changes[0] is"][count] ?? `changes[0] to changes[${count - 1}] are`;

const positionIn = ({ position }: Journal, { spec: { changes } }: Transaction): string => {
  const { cursor } = position;
  if (position.direction === "back")
    return cursor < 0 ? "nothing is left to roll back" : `the rollback of changes[${cursor}] is next`;
  const applied = `${firstOf(cursor)} applied`;
  if (position.gatedSince !== undefined) return `${applied}, and its gates are waited for`;
  return cursor === changes.length ? applied : `${applied}, changes[${cursor}] is next`;
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
  const { direction, cursor } = journal.position;
  const said = [positionIn(journal, state.txn), ...notesIn(journal)].join("; ");
  return `the journal: ${direction}, cursor ${cursor} (${said})`;
};

/** As the API has them. */
const itemsOf = ({ status }: Transaction): string =>
  (encodeStatus(status).items as readonly { readonly state: string }[]).map(({ state }) => state).join(", ");

const readyOf = ({ status: { conditions } }: Transaction): string => {
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready === undefined ? "" : `condition Ready ${ready.status}, ${ready.message}`;
};

/** What is said of the status, each only where it is another than before. */
const STATUS: readonly ((txn: Transaction) => string)[] = [
  ({ status }) => `phase ${status.phase}`,
  (txn) => `items ${itemsOf(txn)}`,
  readyOf,
];

/** What a new process would find, and did not find before this decision. */
export const recorded = ({ before, after }: Decision): readonly string[] => {
  const status = STATUS.map((told) => (told(after.txn) === told(before.txn) ? "" : told(after.txn))).filter(Boolean);
  const journal = inJournal(after) ?? "the journal: it is deleted";
  return [
    ...(status.length === 0 ? [] : [`the status: ${status.join("; ")}`]),
    ...(inJournal(before) === inJournal(after) ? [] : [journal]),
  ];
};
