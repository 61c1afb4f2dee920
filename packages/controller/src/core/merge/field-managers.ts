// Finds out from managedFields who has written to an object since a given time.
import { marks, transactionOf } from "@janus/api";
import type { KubeObject, ManagedFieldsEntry } from "@janus/types";
import { byWriter, writerOf } from "./ancient-changes.ts";
import type { TransactionRef } from "./write-body.ts";
import { meets, none, type Path, setOf } from "./field-set.ts";

type Entries = readonly ManagedFieldsEntry[];

/** The entries of those who have written since. */
export const writtenSince = (former: Entries, entries: Entries): Entries => {
  const formerWriters = byWriter(former);
  return entries.filter((entry) => {
    const before = formerWriters.get(writerOf(entry));
    return before === undefined || before.time !== entry.time;
  });
};

/**
 * The entries of those who have certainly not written since: of the same time as before, and older than the Transaction. Two writes
 * within a second have the same time.
 */
export const settledSince = (
  former: Entries,
  entries: Entries,
  { creationTimestamp = "" }: TransactionRef,
): Entries => {
  const formerWriters = byWriter(former);
  return entries.filter((entry) => {
    const { time } = formerWriters.get(writerOf(entry)) ?? {};
    return time !== undefined && time === entry.time && time < creationTimestamp;
  });
};

const named = ({ name, uid }: { readonly name: string; readonly uid: string }): string =>
  `Transaction ${name} (uid ${uid})`;

const who = (entries: Entries): string => {
  const managers = [...new Set(entries.flatMap(({ manager }) => manager ?? []))];
  const transactions = managers.flatMap((manager) => transactionOf(manager) ?? []);
  const others = managers.filter((manager) => transactionOf(manager) === undefined).map((name) => JSON.stringify(name));
  const all = [
    ...transactions.map(named),
    ...(others.length === 0 ? [] : [`field manager${others.length > 1 ? "s" : ""} ${others.join(" and ")}`]),
  ];
  return all.length === 0 ? "another client" : all.join(" and ");
};

/** The last other Transaction that has changed the object, and left something in it, for messages; undefined if there is none. */
export const otherTransaction = ({ metadata: { managedFields = [] } }: KubeObject, uid: string): string | undefined => {
  const others = managedFields
    .toSorted(({ time: a = "" }, { time: b = "" }) => (a < b ? 1 : -1))
    .filter(({ manager = "" }) => !marks(manager, uid))
    .flatMap(({ manager = "" }) => transactionOf(manager) ?? []);
  return others[0] === undefined ? undefined : named(others[0]);
};

/**
 * Names who has set any of these fields: `field manager "kubectl-edit"`, `Transaction upgrade (uid …)`; `another client` if there
 * is none, as for removed fields.
 */
export const modifiedBy = ({ metadata: { managedFields = [] } }: KubeObject, paths: readonly Path[]): string => {
  const modified = setOf(paths);
  return who(managedFields.filter(({ fieldsV1 = none }) => meets(fieldsV1, modified)));
};

/** Names who has written anything in the object since, its status apart: in the same words. */
export const modifiedSinceBy = (before: KubeObject, { metadata: { managedFields = [] } }: KubeObject): string =>
  who(
    writtenSince(before.metadata.managedFields ?? [], managedFields).filter(
      ({ subresource }) => subresource !== "status",
    ),
  );
