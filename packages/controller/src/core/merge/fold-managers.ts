// Merges the managedFields entries of many old Transactions into one.
import { byWriter, writerOf } from "./ancient-changes.ts";
import { fieldsOf } from "./field-set.ts";
import { isApplyManager, isFieldManager, marks } from "@janus/api";
import type { ManagedFieldsEntry } from "@janus/types";

type Entries = readonly ManagedFieldsEntry[];

/** The manager of fields that Transactions of long ago have set. */
const FORMER = "janus";

/** The number of entries of other Transactions that an object has before they are folded, and that are kept: the latest. */
const MOST = 20;
const KEPT = 10;

/** A later Apply takes over the entries of earlier ones: they stay few, and must keep their names. */
const isPatcher = (manager: string): boolean => isFieldManager(manager) && !isApplyManager(manager);

const timeOf = ({ time = "" }: ManagedFieldsEntry): string => time;

/**
 * managedFields with the oldest appliers among other Transactions put together under one name; undefined where there are few.
 * The API server limits the entries of updaters, but not of appliers, and each Transaction that patches an object is one: an
 * apply to an object that 100 had patched took a quarter of a second, and longer with each.
 *
 * Guarantees: every field keeps an owner, and the latest Transactions keep their marks: a Failed one may be retried.
 */
export const foldedManagers = (entries: Entries, uid: string): Entries | undefined => {
  const appliers = entries
    .filter(({ manager = "", operation }) => operation === "Apply" && isPatcher(manager) && !marks(manager, uid))
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
  if (appliers.length <= MOST) return undefined;
  const old = new Set(appliers.slice(0, -KEPT));
  const versions = new Set([...old].map(({ apiVersion }) => apiVersion));
  const folded = [...versions].map((apiVersion): ManagedFieldsEntry => {
    const bare: ManagedFieldsEntry = {
      manager: FORMER,
      operation: "Update",
      ...(apiVersion === undefined ? {} : { apiVersion }),
    };
    const former = byWriter(entries).get(writerOf(bare));
    const parts = [...old].filter((entry) => entry.apiVersion === apiVersion);
    const fieldsV1 = fieldsOf([...(former === undefined ? [] : [former]), ...parts]);
    return { ...bare, time: timeOf(parts.at(-1) ?? bare), fieldsType: "FieldsV1", fieldsV1 };
  });
  const replaced = new Set(folded.map(writerOf));
  return [...entries.filter((entry) => !old.has(entry) && !replaced.has(writerOf(entry))), ...folded];
};
