import { MARK } from "./body.ts";
import { type Fields, fieldsOf, filter, has, isWhole, none, type Path } from "./fields.ts";
import { equal } from "./json.ts";
import type { ManagedFieldsEntry } from "./object.ts";

type Entries = readonly ManagedFieldsEntry[];

/**
 * Under this name the API server books the oldest updaters together, so that there are no more than ten of them.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/capmanagers.go
 */
const HEAP = "ancient-changes";

/** An applier is the same in every version of the API; an updater has one entry for each. */
export const sameWriter = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  (a.subresource ?? "") === (b.subresource ?? "") &&
  (a.operation === "Apply" || a.apiVersion === b.apiVersion);

const fieldsIn = (entry: ManagedFieldsEntry | undefined): Fields => entry?.fieldsV1 ?? none;

/**
 * The live entries, and again under their own names those of before that were put on the heap since: our entry may have been
 * one too many.
 */
export const unheaped = (former: Entries, live: Entries): Entries =>
  live.flatMap((entry) => {
    if (entry.manager !== HEAP || entry.operation !== "Update") return [entry];
    const before = former.find((other) => sameWriter(entry, other));
    const isNew = (path: Path): boolean => has(fieldsIn(entry), path) && !has(fieldsIn(before), path);
    const again = former.flatMap((one) => {
      const isGone = one.operation === "Update" && !live.some((other) => sameWriter(one, other));
      const fieldsV1 = isGone && one.apiVersion === entry.apiVersion ? filter(fieldsIn(one), isNew) : none;
      return isWhole(fieldsV1) ? [] : [{ ...one, fieldsV1 }];
    });
    const named = fieldsOf(again);
    const rest = filter(fieldsIn(entry), (path) => !isNew(path) || !(has(named, path) || has(MARK, path)));
    if (before !== undefined && equal(rest, fieldsIn(before))) return [before, ...again];
    return isWhole(rest) ? again : [{ ...entry, fieldsV1: rest }, ...again];
  });
