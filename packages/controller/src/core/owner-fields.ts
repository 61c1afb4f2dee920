import { elementOf, type Fields, filter, isWhole, nodeAt, none, type Path, union } from "./fields.ts";
import { sameWriter } from "./heap.ts";
import type { ManagedFieldsEntry } from "./object.ts";

type Entries = readonly ManagedFieldsEntry[];

const OWNERS: Path = ["f:metadata", "f:ownerReferences"];
const pathOf = (uid: string): Path => [...OWNERS, elementOf({ by: "keys", keys: ["uid"] }, { uid })];

/** What an entry says of these owner references. */
export const ofOwners = (fields: Fields, uids: readonly string[]): Fields => {
  const paths = uids.map(pathOf).filter((path) => nodeAt(fields, path) !== undefined);
  return filter(fields, (path) => paths.some((one) => one.every((element, at) => (path[at] ?? element) === element)));
};

/** All that an entry says of anything but owner references. */
export const withoutOwners = (fields: Fields): Fields =>
  filter(fields, (path) => !OWNERS.every((element, at) => path[at] === element));

/** The entries, and what those of before say of these owner references. */
export const withEntriesOf = (entries: Entries, former: Entries, uids: readonly string[]): Entries =>
  former.reduce((all, one) => {
    const fields = ofOwners(one.fieldsV1 ?? none, uids);
    if (isWhole(fields)) return all;
    return all.some((entry) => sameWriter(entry, one))
      ? all.map((entry) =>
          sameWriter(entry, one) ? { ...entry, fieldsV1: union([entry.fieldsV1 ?? none, fields]) } : entry,
        )
      : [...all, { ...one, fieldsV1: fields }];
  }, entries);
