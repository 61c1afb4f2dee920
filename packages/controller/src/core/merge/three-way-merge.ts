import {
  child,
  elementOf,
  type Fields,
  isWhole,
  keysOf,
  type ListKind,
  listKind,
  none,
  type Path,
  valueAt,
} from "./field-set.ts";
import { asObject, equal, isObject, member } from "../kubernetes/json.ts";
import type { Json, JsonObject } from "@janus/types";

/** Who owns what, and what the change set out to do. */
export interface FieldOwnership {
  /** Fields that the Transaction owns in the live object. */
  readonly ours: Fields;
  /** Fields that anybody else owns in the live object. */
  readonly theirs: Fields;
  /** Those of them whose owners have written since the change. */
  readonly since: Fields;
  /** Every field that anybody owns, or owned before: tells how lists are merged. */
  readonly known: Fields;
  /** What the change was to write. */
  readonly content: JsonObject;
  /** Whether the change replaced the whole object, so that what is not in its content was removed by it. */
  readonly replaces: boolean;
  /** Whether nothing tells which fields the change has set: only those of its content count as its own. */
  readonly isBlind: boolean;
}

export interface Merged {
  readonly value: JsonObject;
  /** Fields that the change set and that somebody took over since. They keep their live value. */
  readonly conflicts: readonly Path[];
}

interface Spot {
  readonly path: Path;
  readonly ours: Fields | undefined;
  readonly theirs: Fields | undefined;
  readonly since: Fields | undefined;
  readonly known: Fields | undefined;
}

const into = (spot: Spot, element: string): Spot => ({
  path: [...spot.path, element],
  ours: child(spot.ours, element),
  theirs: child(spot.theirs, element),
  since: child(spot.since, element),
  known: child(spot.known, element),
});

/** Whether the field is a key of the list item that it stands in: it comes and goes with the item. */
const isKey = (path: Path): boolean => keysOf(path.at(-2) ?? "").some((key) => path.at(-1) === `f:${key}`);

/** The keys of a list item, and nothing else of it. */
const keysIn = (kind: ListKind, item: Json | undefined): JsonObject =>
  Object.fromEntries(
    (kind.by === "keys" ? kind.keys : []).flatMap((key) => {
      const value = member(asObject(item), key);
      return value === undefined ? [] : [[key, value]];
    }),
  );

interface Listed {
  readonly element: string;
  readonly item: Json;
}

/** Items by their element, and by number: some lists may name one twice, such as that of environment variables. */
const numbered = (kind: ListKind, items: readonly Json[]): ReadonlyMap<string, Listed> => {
  const numbers = new Map<string, number>();
  return new Map(
    items.map((item) => {
      const element = elementOf(kind, item);
      const number = numbers.get(element) ?? 0;
      numbers.set(element, number + 1);
      return [`${number} ${element}`, { element, item }];
    }),
  );
};

/** What the API server may take for nothing, and leave out: Go calls it `omitempty`. */
export const isEmpty = (value: unknown): boolean =>
  [undefined, null, false, 0, ""].some((empty) => value === empty) ||
  (typeof value === "object" && Object.keys(value ?? none).length === 0);

/** What became empty by the merge was not there, or is not any more. */
const unlessBare = <A extends Json>(merged: A, bare: boolean, was: unknown, is: unknown): A | undefined =>
  bare && (was === undefined || is === undefined) ? undefined : merged;

/**
 * Takes the change back out of the live object, field by field: a three-way merge of what was, what the change wrote and
 * what is now.
 *
 * Guarantees: a field that only the Transaction owns, or that nobody owns, gets its value of before; a field that somebody
 *             else owns keeps its live value, and is a conflict if the change had set it to something else. Where managedFields
 *             tells nothing, so does what is not in the content; and what is, if it is not as the change made it.
 * Assumes:    `before` and `live` hold only what a write can change (no status where that is a subresource, no uid …).
 */
export const threeWayMerge = (before: JsonObject, live: JsonObject, ownership: FieldOwnership): Merged => {
  const conflicts: Path[] = [];

  /** Whether the change meant this field to have another value than before. */
  const changed = (path: Path, was: Json | undefined): boolean => {
    const wanted = valueAt(ownership.content, path);
    return wanted === undefined ? ownership.replaces && was !== undefined : !equal(wanted, was);
  };

  /**
   * Whether the change set this field, which is neither ours any more nor has the value: somebody took it over in another
   * version of the kind, in which it is called otherwise.
   */
  const isTakenElsewhere = (was: Json | undefined, is: Json, { path, ours }: Spot): boolean => {
    const wanted = valueAt(ownership.content, path);
    return ours === undefined && wanted !== undefined && !equal(wanted, was) && !equal(wanted, is);
  };

  /** Whether nothing says that the change has set this field. Owners are another matter: the Transaction may have deleted them. */
  const isOthers = ({ path, ours }: Spot): boolean =>
    ownership.isBlind &&
    ours === undefined &&
    valueAt(ownership.content, path) === undefined &&
    !(path[0] === "f:metadata" && path[1] === "f:ownerReferences");

  const mergeWhole = (was: Json | undefined, is: Json | undefined, spot: Spot): Json | undefined => {
    if (is === undefined) {
      // What somebody takes out, nobody owns any more. What is owned, the API server left out: as empty, or as no longer of use.
      const isLeftOut = (spot.ours ?? spot.theirs) !== undefined;
      if (isLeftOut && spot.since === undefined) return was;
      if (!changed(spot.path, was)) return undefined;
      // Gone by the change if it replaces and has nothing there, else by another client.
      if (ownership.replaces && isEmpty(valueAt(ownership.content, spot.path)) && spot.since === undefined) return was;
      conflicts.push(spot.path);
      return undefined;
    }
    if (spot.theirs === undefined) {
      if (isOthers(spot)) return is;
      if (!isTakenElsewhere(was, is, spot)) return was;
      conflicts.push(spot.path);
      return is;
    }
    if (isKey(spot.path)) return is;
    // Nobody is booked for a null: who owned what was there before it keeps the bare field.
    const isNulled = is === null && spot.ours === undefined && spot.since === undefined;
    if (isNulled && valueAt(ownership.content, spot.path) === null) return was;
    if (spot.ours !== undefined || changed(spot.path, was)) conflicts.push(spot.path);
    return is;
  };

  const mergeObjects = (
    was: JsonObject | undefined,
    is: JsonObject | undefined,
    spot: Spot,
  ): JsonObject | undefined => {
    const names = new Set([...Object.keys(is ?? none), ...Object.keys(was ?? none)]);
    const merged = [...names].flatMap((name) => {
      const at = into(spot, `f:${name}`);
      // What nobody ever owned, others did not take out: it went in consequence of the change, like a port of a Service.
      const wentAlong = is !== undefined && !Object.hasOwn(is, name) && at.known === undefined;
      const value = wentAlong ? member(was, name) : mergeValues(member(was, name), member(is, name), at);
      return value === undefined ? [] : [[name, value] as const];
    });
    return unlessBare(Object.fromEntries(merged), merged.length === 0, was, is);
  };

  const mergeLists = (
    was: readonly Json[] | undefined,
    is: readonly Json[] | undefined,
    spot: Spot,
    kind: ListKind,
  ): Json | undefined => {
    const former = numbered(kind, was ?? []);
    const present = numbered(kind, is ?? []);
    // In the order of before; what others added comes after.
    const merged = [...new Map([...former, ...present])].flatMap(([name, { element }]): readonly Json[] => {
      const before = former.get(name)?.item;
      const live = present.get(name)?.item;
      const value = mergeValues(before, live, into(spot, element));
      if (value === undefined) return [];
      // An item that stays, if only for what others have in it, stays under its keys.
      return [isObject(value) ? { ...keysIn(kind, live ?? before), ...value } : value];
    });
    return unlessBare(merged, merged.length === 0, was, is);
  };

  const mergeValues = (was: Json | undefined, is: Json | undefined, spot: Spot): Json | undefined => {
    if (equal(was, is)) return is;
    const parted = (spot.known !== undefined && !isWhole(spot.known)) || (ownership.isBlind && isObject(is));
    // What nobody else has a part in is taken back as one piece, with the defaults that nobody owns.
    if (!parted || (was === undefined && spot.theirs === undefined && !ownership.isBlind))
      return mergeWhole(was, is, spot);
    if ((was === undefined || isObject(was)) && (is === undefined || isObject(is))) return mergeObjects(was, is, spot);
    const kind = listKind(spot.known);
    if (kind !== undefined && (was === undefined || Array.isArray(was)) && (is === undefined || Array.isArray(is)))
      return mergeLists(was as readonly Json[] | undefined, is as readonly Json[] | undefined, spot, kind);
    return mergeWhole(was, is, spot);
  };

  const { ours, theirs, since, known } = ownership;
  const value = mergeObjects(before, live, { path: [], ours, theirs, since, known });
  return { value: value ?? none, conflicts };
};
