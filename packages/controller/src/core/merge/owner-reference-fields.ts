// Edits managedFields entries where they cover owner references.
import { child, type Fields, filter, isWhole, nodeAt, none, type Path, union } from "./field-set.ts";
import { elementOf } from "./list-element.ts";
import { writerOf } from "./ancient-changes.ts";
import type { ManagedFieldsEntry } from "@janus/types";

type Entries = readonly ManagedFieldsEntry[];

const OWNERS: Path = ["f:metadata", "f:ownerReferences"];
/** Whether a path is within owner references, or leads to them. */
const isWithin = (path: Path): boolean => OWNERS.every((element, at) => (path[at] ?? element) === element);

const elementFor = (uid: string): string => elementOf({ type: "keys", keys: ["uid"] }, { uid });

/** The part of an entry about these owner references. */
export const ofOwners = (fields: Fields, uids: readonly string[]): Fields => {
  const all = nodeAt(fields, OWNERS) ?? none;
  const elements = new Set(uids.map(elementFor).filter((element) => child(all, element) !== undefined));
  if (elements.size === 0) return none;
  return filter(
    fields,
    (path) => isWithin(path) && (path[OWNERS.length] === undefined || elements.has(path[OWNERS.length] ?? "")),
  );
};

/** The entry with owner references under other uids. */
export const withUids = (entry: ManagedFieldsEntry, uids: ReadonlyMap<string, string>): ManagedFieldsEntry => {
  const { fieldsV1 } = entry;
  const all = fieldsV1 === undefined ? undefined : nodeAt(fieldsV1, OWNERS);
  if (fieldsV1 === undefined || all === undefined) return entry;
  const renamed = new Map([...uids].map(([uid, now]) => [elementFor(uid), elementFor(now)] as const));
  const ownerReferences = Object.fromEntries(
    Object.entries(all).map(([element, below]) => [renamed.get(element) ?? element, below]),
  );
  const metadata = { ...child(fieldsV1, "f:metadata"), "f:ownerReferences": ownerReferences };
  return { ...entry, fieldsV1: { ...fieldsV1, "f:metadata": metadata } };
};

/** The entries without what they say of these owner references. */
export const withoutEntriesOf = (entries: Entries, uids: readonly string[]): Entries => {
  const elements = new Set(uids.map(elementFor));
  return entries.flatMap((entry) => {
    const { fieldsV1 } = entry;
    if (fieldsV1 === undefined || isWhole(ofOwners(fieldsV1, uids))) return [entry];
    const left = filter(fieldsV1, (path) => !(isWithin(path) && elements.has(path[OWNERS.length] ?? "")));
    return isWhole(left) ? [] : [{ ...entry, fieldsV1: left }];
  });
};

/** The part of an entry that is not about owner references. */
export const withoutOwners = (fields: Fields): Fields =>
  filter(fields, (path) => !OWNERS.every((element, at) => path[at] === element));

/** The entries, with the parts of the former ones about these owner references. */
export const withEntriesOf = (entries: Entries, former: Entries, uids: readonly string[]): Entries => {
  const back = new Map<string, ManagedFieldsEntry>();
  for (const one of former) {
    const fields = ofOwners(one.fieldsV1 ?? none, uids);
    const writer = writerOf(one);
    if (!isWhole(fields)) back.set(writer, withFields(back.get(writer) ?? { ...one, fieldsV1: none }, fields));
  }
  const writers = new Set(entries.map(writerOf));
  return [
    ...entries.map((entry) => withFields(entry, back.get(writerOf(entry))?.fieldsV1 ?? none)),
    ...[...back].flatMap(([writer, entry]) => (writers.has(writer) ? [] : [entry])),
  ];
};

const withFields = (entry: ManagedFieldsEntry, fields: Fields): ManagedFieldsEntry =>
  isWhole(fields) ? entry : { ...entry, fieldsV1: union([entry.fieldsV1 ?? none, fields]) };
