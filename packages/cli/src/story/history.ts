// Finds the Transactions that have changed an object, and the fields of each, by managedFields.
import { groupOf, isFieldManager, marks, type StateName, stateName, transactionOf, type Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import { asObject } from "@janus/types";
import { showPath } from "@janus/controller/core/merge/show-path";
import type { JsonObject, KubeObject } from "@janus/kube";
import type { Place } from "../cluster/named-object.ts";
import { type Users, usersOf } from "../cluster/users.ts";

/** The part of one Transaction in the history of an object, or, without an object, the Transaction itself. */
export interface Chapter extends Partial<Users> {
  readonly name: string;
  /** Undefined with `phase`: it is known from the fields of the object alone, since it is deleted, or elsewhere. */
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly phase: Transaction["status"]["phase"] | undefined;
  /** When it finished, or started, or last wrote the object. */
  readonly time: string | undefined;
  /** The change of the object, and how far it is: `Patch`, `Applied`. */
  readonly change?: string;
  readonly state?: StateName;
  /** The fields of the object that are still as it set them, such as `.spec.replicas`. */
  readonly fields: readonly string[];
  /** Says that a later version of Janus has written it, and why this one cannot read it. */
  readonly unreadable?: string;
}

/** The fields that can be read of a Transaction that a later version of Janus has written. */
export interface Unread {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly time: string | undefined;
  readonly isExecuted: boolean;
  readonly why: string;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Its names, times and whether it is Published are called the same in every version. */
export const unread = (object: KubeObject, why: string): Unread => {
  const { name = "", namespace = "", uid = "", creationTimestamp } = object.metadata;
  const { completedAt, startedAt } = asObject(object["status"]);
  const time = textOf(completedAt) ?? textOf(startedAt) ?? creationTimestamp;
  return { name, namespace, uid, time, isExecuted: asObject(object["spec"])["lifecycle"] === "Published", why };
};

const unreadChapter = ({ name, namespace, uid, time, why }: Unread): Chapter => ({
  name,
  namespace,
  uid,
  phase: undefined,
  time,
  fields: [],
  unreadable: why,
});

const leaves = (fields: JsonObject, path: readonly string[] = []): readonly string[] => {
  const children = Object.entries(fields).filter(([name]) => name !== ".");
  if (children.length === 0) return path.length === 0 ? [] : [showPath(path)];
  return children.flatMap(([name, below]) => leaves(asObject(below), [...path, name]));
};

/** Fields by the uid of the Transaction that owns them. */
interface Owned {
  readonly manager: string;
  readonly time: string | undefined;
  readonly fields: readonly string[];
}

const ownedIn = (object: KubeObject | undefined): readonly Owned[] =>
  (object?.metadata.managedFields ?? []).flatMap(({ manager = "", time, fieldsV1 = {} }) =>
    isFieldManager(manager) ? [{ manager, time, fields: leaves(fieldsV1) }] : [],
  );

/** Reads the Transaction from the field manager, which has only the beginning of a long name. */
const ofManager = ({ manager, time, fields }: Owned): readonly Chapter[] => {
  const transaction = transactionOf(manager);
  return transaction === undefined ? [] : [{ ...transaction, namespace: undefined, phase: undefined, time, fields }];
};

const chapterOf = (txn: Transaction): Chapter => {
  const { metadata, status } = txn;
  const { name, namespace, uid, creationTimestamp } = metadata;
  const time = status.completedAt ?? status.startedAt ?? creationTimestamp;
  return { name, namespace, uid, phase: status.phase, time, fields: [], ...usersOf(txn) };
};

const indexOf = ({ spec, metadata }: Transaction, { resource, namespace, name }: Place): number =>
  spec.changes.findIndex(
    ({ target }) =>
      target.name === name &&
      target.kind === resource.kind &&
      groupOf(target.apiVersion) === resource.group &&
      (namespace === undefined || (target.namespace ?? metadata.namespace) === namespace),
  );

/** States in which a change has never been made, if the Transaction is over. */
const NEVER_MADE: readonly StateName[] = ["Pending", "Refused", "Prepared", "NotApplied"];

/** The oldest first. */
const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Times in a status are whole seconds: those of one second are in the order of their names. */
const byTime = (one: Chapter, other: Chapter): number =>
  compared(one.time ?? "", other.time ?? "") || compared(one.name, other.name);

/** The Transactions that are, or were, executed. */
export const history = (all: readonly Transaction[], unreadable: readonly Unread[]): readonly Chapter[] =>
  [
    ...all.filter(({ spec }) => spec.lifecycle === "Published").map(chapterOf),
    ...unreadable.filter(({ isExecuted }) => isExecuted).map(unreadChapter),
  ].toSorted(byTime);

/**
 * The Transactions that have changed an object, or are about to: those that have it among their targets, and those
 * that own fields of it. What a later version of Janus has written is found by its fields alone.
 *
 * @param object as it is now; undefined if it does not exist.
 */
export const historyOf = (
  place: Place,
  object: KubeObject | undefined,
  all: readonly Transaction[],
  unreadable: readonly Unread[],
): readonly Chapter[] => {
  const owned = ownedIn(object);
  const known = all
    .filter(({ spec }) => spec.lifecycle === "Published")
    .flatMap((txn): readonly Chapter[] => {
      const index = indexOf(txn, place);
      const state = stateName(txn.status.items[index]?.state ?? { type: "untouched" });
      if (index < 0 || (isTerminal(txn.status.phase) && NEVER_MADE.includes(state))) return [];
      const fields = owned.filter(({ manager }) => marks(manager, txn.metadata.uid)).flatMap(({ fields }) => fields);
      return [{ ...chapterOf(txn), change: txn.spec.changes[index]?.type ?? "", state, fields }];
    });
  const others = owned
    .filter(({ manager }) => !known.some(({ uid }) => marks(manager, uid)))
    .flatMap((one) => {
      const later = unreadable.find(({ uid }) => marks(one.manager, uid));
      return later === undefined ? ofManager(one) : [{ ...unreadChapter(later), fields: one.fields }];
    });
  return [...known, ...others].toSorted(byTime);
};
