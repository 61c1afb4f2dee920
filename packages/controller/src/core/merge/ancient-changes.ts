// Handles managedFields entries that the API server has merged under the name ancient-changes.
import { RESTORED_MARK } from "./write-body.ts";
import { type Fields, fieldsOf, filter, has, isWhole, none, type Path } from "./field-set.ts";
import { equal, type ManagedFieldsEntry, memoized } from "@janus/types";

type Entries = readonly ManagedFieldsEntry[];

/**
 * The manager under which the API server merges the entries of the oldest updaters, so that there are at most ten.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/capmanagers.go
 */
export const ANCIENT_CHANGES = "ancient-changes";

const isHeap = ({ manager, operation }: ManagedFieldsEntry): boolean =>
  manager === ANCIENT_CHANGES && operation === "Update";

/** The writer of an entry. An applier is the same in every version of the API; an updater has one entry for each. */
export const writerOf = memoized(({ manager, operation, subresource = "", apiVersion }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, subresource, operation === "Apply" ? "" : apiVersion]),
);

/** The entries by their writers, in a map: there may be as many of them as fields. */
export const byWriter = memoized(
  (entries: Entries): ReadonlyMap<string, ManagedFieldsEntry> =>
    new Map(entries.map((entry) => [writerOf(entry), entry] as const).toReversed()),
);

const fieldsIn = (entry: ManagedFieldsEntry | undefined): Fields => entry?.fieldsV1 ?? none;

/**
 * The live entries, with the former ones that were merged since under their own names again: our entry may have
 * exceeded the limit.
 */
export const expandAncientChanges = (former: Entries, live: Entries): Entries => {
  if (!live.some(isHeap)) return live;
  const [formerWriters, liveWriters] = [byWriter(former), byWriter(live)];
  return live.flatMap((entry) => {
    if (!isHeap(entry)) return [entry];
    const before = formerWriters.get(writerOf(entry));
    const isNew = (path: Path): boolean => has(fieldsIn(entry), path) && !has(fieldsIn(before), path);
    const again = former.flatMap((one) => {
      const isGone = one.operation === "Update" && !liveWriters.has(writerOf(one));
      const fieldsV1 = isGone && one.apiVersion === entry.apiVersion ? filter(fieldsIn(one), isNew) : none;
      return isWhole(fieldsV1) ? [] : [{ ...one, fieldsV1 }];
    });
    const named = fieldsOf(again);
    const rest = filter(fieldsIn(entry), (path) => !isNew(path) || !(has(named, path) || has(RESTORED_MARK, path)));
    if (before !== undefined && equal(rest, fieldsIn(before))) return [before, ...again];
    return isWhole(rest) ? again : [{ ...entry, fieldsV1: rest }, ...again];
  });
};
