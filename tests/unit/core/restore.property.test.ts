import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import { nodeAt, type Path } from "../../../packages/controller/src/core/merge/field-set.ts";
import { fieldValue } from "../../../packages/controller/src/core/merge/field-value.ts";
import { equal, type KubeObject } from "@janus/types";
import { isMarked } from "../../../packages/controller/src/core/merge/marks.ts";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { asJson, bare, edits, paths, sets, write, written } from "./arbitrary-writes.ts";
import { edited, valuesAt } from "./edit.ts";
import { apply, post, put } from "./thing-server.ts";
import { author, manager, place, wish as wishOf } from "./thing.ts";

const change = fc.record({
  type: fc.constantFrom("Patch" as const, "Update" as const),
  edits: edits.filter((all) => all.some(sets)),
  /** Whether an Update starts from what is there, as people do, or says everything anew. */
  anew: fc.boolean(),
});

/** Who owns this field. */
const ownersOf = (object: KubeObject, path: Path): readonly string[] =>
  (object.metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => nodeAt(fieldsV1 ?? {}, path) !== undefined)
    .map(({ manager, operation }) => JSON.stringify([manager, operation]))
    .toSorted();

/** The list item that it is in. */
const itemOf = (path: Path): Path => path.slice(0, path.findIndex((element) => element.startsWith("k:")) + 1);

const world = fc
  .record({
    booked: fc.boolean(),
    first: edits,
    before: fc.array(write, { maxLength: 3 }),
    change,
    after: fc.array(write, { maxLength: 3 }),
  })
  .map(({ booked, first, before: writes, change: { type, edits, anew }, after }) => {
    const start = edited(asJson(bare), first) as unknown as KubeObject;
    const before = writes.reduce(written, booked ? post(start, "kubectl") : start);
    const { spec = {}, data = {} } = asJson(before);
    const content = edited(
      type === "Patch" || anew ? {} : { spec, data },
      type === "Patch" ? edits.filter(sets) : edits,
    );
    const wish = wishOf({ type, content });
    const body = changeBody(wish, place, before, author);
    const changed = type === "Patch" ? apply(before, body, manager) : put(before, body, manager);
    const versions = after.reduce<readonly KubeObject[]>(
      (all, one) => [...all, written(all.at(-1) ?? changed, one)],
      [changed],
    );
    const live = versions.at(-1) ?? changed;
    /** Whether another client has written this field since our change, or shares it with us. */
    const isTheirs = (path: Path): boolean =>
      versions.slice(1).some((version, at) => !equal(fieldValue(version, path), fieldValue(versions[at], path))) ||
      ownersOf(live, path).some((owner) => !ownersOf(changed, path).includes(owner) && owner.includes('"Apply"'));
    /** Whether it is in a list item that the change has left there, and another client has removed since. */
    const isInRemovedItem = (path: Path): boolean => {
      const item = itemOf(path);
      return item.length > 0 && fieldValue(changed, item) !== undefined && fieldValue(live, item) === undefined;
    };
    /** Whether it is in a list item that the change has removed, and another client has added again since. */
    const isInItemSetAgain = (path: Path): boolean => {
      const item = itemOf(path);
      const [was, made, is] = [before, changed, live].map((object) => fieldValue(object, item) !== undefined);
      return item.length > 0 && was === true && made === false && is === true;
    };
    const known = before.metadata.managedFields !== undefined;
    return { wish, before, changed, live, isTheirs, isInRemovedItem, isInItemSetAgain, known, after };
  })
  // Where nothing was booked, nothing tells that somebody took a field out.
  .filter(({ known, after }) => known || after.every(({ how, edits }) => how === "edits" && edits.every(sets)));
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

/** One PUT after the other, until there is nothing more to do. */
const restored = ({ wish, before, live }: Pick<World, "wish" | "before" | "live">) => {
  const conflicts: (readonly Path[])[] = [];
  let object = live;
  for (let puts = 0; ; puts += 1) {
    const { put: body, conflicts: found } = restoration(wish, place, before, object, author);
    conflicts.push(found);
    if (body === undefined || puts > 5) return { object, puts, conflicts };
    object = put(object, body, manager);
  }
};

const sorted = (entries: KubeObject["metadata"]["managedFields"]) =>
  (entries ?? []).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** What a field is to be in the end. Whatever an Update emptied is as good as gone: the API server keeps few empty values. */
const expected = (world: World, path: Path): unknown => {
  const { wish, before, changed, live, isTheirs, isInRemovedItem, isInItemSetAgain } = world;
  if (isInRemovedItem(path)) return undefined;
  if (isInItemSetAgain(path)) return fieldValue(live, path);
  const value = fieldValue(changed, path);
  const emptied =
    wish.type === "Update" && [0, []].some((empty) => equal(value, empty)) && !equal(value, fieldValue(before, path));
  const gone = (value === undefined || emptied) && fieldValue(live, path) === undefined;
  return isTheirs(path) && !gone ? fieldValue(live, path) : fieldValue(before, path);
};

const check = (holds: (world: World) => void) => fc.assert(fc.property(world, holds), { numRuns: 60 });
const texts = (all: readonly Path[]) => all.map((path) => JSON.stringify(path)).toSorted();

describe("taking a change back, whatever others did before and after", () => {
  it("restores every field that no other client modified, and leaves every other as it is", () => {
    check((world) => {
      const { object } = restored(world);
      const wanted = Object.fromEntries(paths.map((path) => [JSON.stringify(path), expected(world, path)]));
      expect(valuesAt(object, paths)).toEqual(wanted);
    });
  });

  it("reports a conflict for each field that it set and another client took over, and for no other", () => {
    check((world) => {
      const { before, changed, live, isInRemovedItem, isInItemSetAgain } = world;
      const { conflicts } = restored(world);
      // What the change had taken out of an item is nothing to restore once the item itself is gone.
      const isMoot = (path: Path) => isInRemovedItem(path) && fieldValue(changed, path) === undefined;
      const taken = paths.filter(
        (path) =>
          !isMoot(path) &&
          !equal(expected(world, path), fieldValue(before, path)) &&
          !equal(fieldValue(changed, path), fieldValue(before, path)),
      );
      // Of an item that they have added again without a field of it, they have all.
      const lacking = texts(taken.filter((path) => fieldValue(live, path) === undefined).map(itemOf));
      const isOfWhole = (path: Path) => isInItemSetAgain(path) && lacking.includes(JSON.stringify(itemOf(path)));
      const named = taken.map((path) => (isOfWhole(path) ? itemOf(path) : path));
      for (const found of conflicts) expect(texts(found)).toEqual([...new Set(texts(named))]);
    });
  });

  it("takes at most two PUTs, after which nothing of ours is left", () => {
    check((world) => {
      const { object, puts } = restored(world);
      expect(puts).toBeLessThanOrEqual(2);
      expect(isMarked(object, author.uid)).toBe(false);
    });
  });

  it("restores the whole object, including managers and their times, where no other client wrote", () => {
    check((world) => {
      if (world.after.length > 0) return;
      const { object } = restored(world);
      const { managedFields: was, resourceVersion: _, ...metadata } = world.before.metadata;
      const { managedFields: is, resourceVersion: __, ...restoredMetadata } = object.metadata;
      expect({ ...object, metadata: restoredMetadata }).toEqual({ ...world.before, metadata });
      expect(sorted(is)).toEqual(sorted(was));
    });
  });

  it("gives every field that nobody else touched back to its owners, as long as anything of ours is left", () => {
    check((world) => {
      const { object } = restored(world);
      const { before, changed, live } = world;
      if (!isMarked(live, author.uid)) return;
      const untouched = paths.filter(
        (path) =>
          fieldValue(before, path) !== undefined &&
          equal(ownersOf(live, path), ownersOf(changed, path)) &&
          !world.isTheirs(path) &&
          !world.isInRemovedItem(path) &&
          !world.isInItemSetAgain(path),
      );
      const owners = (of: KubeObject) =>
        Object.fromEntries(untouched.map((path) => [JSON.stringify(path), ownersOf(of, path)]));
      expect(owners(object)).toEqual(owners(before));
    });
  });
});
