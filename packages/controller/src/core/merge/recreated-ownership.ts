// Computes the managedFields of an object that was created again.
import { byWriter, writerOf } from "./ancient-changes.ts";
import { child, type Fields, fieldsOf, filterAlong, isWhole, none, union } from "./field-set.ts";
import { entriesOf, isOurs } from "./marks.ts";
import { equal, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import { orNoManager } from "./restored-ownership.ts";
import { under } from "./field-value.ts";

/** A field of a former owner: what it owned of it, what others own of it since, and its values. */
interface FormerField {
  readonly former: Fields | undefined;
  readonly taken: Fields | undefined;
  readonly before: unknown;
  readonly live: unknown;
}

const into = ({ former, taken, before, live }: FormerField, element: string): FormerField => {
  const read = under(element);
  return { former: child(former, element), taken: child(taken, element), before: read(before), live: read(live) };
};

/** Whether it is its former owner's still: what others have taken over is both's only where they have left its value alone. */
const isKept = ({ former, taken, before, live }: FormerField): boolean =>
  taken === undefined || !isWhole(former ?? none) || equal(live, before);

/** The owners of the fields of an object that was created again: as before, but for what others have taken over since. */
export const recreatedOwnership = (
  before: KubeObject,
  live: KubeObject,
  uid: string,
): readonly ManagedFieldsEntry[] => {
  const since = entriesOf(live).filter((entry) => !isOurs(entry, uid));
  const taken = fieldsOf(since);
  const former = entriesOf(before).flatMap((entry) => {
    const fields = entry.fieldsV1 ?? none;
    const fieldsV1 = filterAlong(fields, { former: fields, taken, before, live }, { into, keeps: isKept });
    if (equal(fieldsV1, fields)) return [entry];
    return isWhole(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
  });
  const [formerWriters, writersSince] = [byWriter(former), byWriter(since)];
  const stillOwning = former.map((entry) => {
    const again = writersSince.get(writerOf(entry));
    if (again === undefined) return entry;
    return { ...again, fieldsV1: union([entry.fieldsV1 ?? none, again.fieldsV1 ?? none]) };
  });
  return orNoManager([...stillOwning, ...since.filter((entry) => !formerWriters.has(writerOf(entry)))]);
};
