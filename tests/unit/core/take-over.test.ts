import { applyManager, fieldManager, isApplyManager, isFieldManager, marks, transactionOf } from "@janus/api";
import { describe, expect, it } from "vitest";
import { appliedState } from "../../../packages/controller/src/core/merge/applied-state.ts";
import { duplicateItem } from "../../../packages/controller/src/core/merge/duplicate-items.ts";
import { leftOutOf } from "../../../packages/controller/src/core/merge/left-out.ts";
import { nulledFields, nullItem, withoutNulls } from "../../../packages/controller/src/core/merge/nulls.ts";

const web = 'k:{"name":"web"}';
const side = 'k:{"name":"side"}';
const item = { ".": {}, "f:name": {}, "f:image": {} };

describe("what an Apply leaves out", () => {
  it.each([
    [
      "all of a map that nobody else has set a part of",
      { "f:a": { "f:b": {} } },
      undefined,
      { a: { b: 1, c: 1 } },
      {},
      { "f:a": {} },
    ],
    [
      "a part of it that only the earlier Apply has set",
      { "f:a": { "f:b": {}, "f:c": {} } },
      { "f:a": { "f:b": {} } },
      { a: { b: 1, c: 1 } },
      {},
      { "f:a": { "f:c": {} } },
    ],
    [
      "nothing that the content has, or that is not there any more",
      { "f:a": {}, "f:b": {} },
      undefined,
      { a: 1 },
      { a: 2 },
      undefined,
    ],
    [
      "an item of a list",
      { "f:l": { [web]: item, [side]: item } },
      undefined,
      {
        l: [
          { name: "web", image: "1" },
          { name: "side", image: "1" },
        ],
      },
      { l: [{ name: "web" }] },
      { "f:l": { [web]: { "f:image": {} }, [side]: {} } },
    ],
    [
      "an item in which others have set a field, but not one that is theirs, too",
      { "f:l": { [web]: item, [side]: item } },
      { "f:l": { [web]: { ".": {}, "f:image": {} }, [side]: { "f:image": {} } } },
      {
        l: [
          { name: "web", image: "1", other: 1 },
          { name: "side", image: "1" },
        ],
      },
      {},
      { "f:l": { [side]: {} } },
    ],
    [
      "of a list only its own items, where others have no manager",
      { "f:l": { 'v:"a"': {} } },
      undefined,
      { l: ["a", "b"] },
      {},
      { "f:l": { 'v:"a"': {} } },
    ],
  ])("is %s", (_, earlier, theirs, is, wanted, left) => {
    expect(leftOutOf({ earlier, theirs, is, wanted })).toEqual(left);
  });

  it("goes, and the content is merged with the rest", () => {
    const live = {
      l: [{ name: "x" }, { name: "web", image: "1", other: 1 }, { name: "side" }],
      whole: { a: 1 },
      map: { a: 1 },
    };
    const managed = {
      "f:l": { 'k:{"name":"x"}': item, [web]: item, [side]: item },
      "f:whole": {},
      "f:map": { "f:a": {} },
    };
    const content = { l: [{ name: "new" }, { name: "web", image: "2" }], whole: { b: 1 }, map: { b: 1 } };
    expect(appliedState(live, content, managed, { "f:l": { [side]: {} } })).toEqual({
      l: [{ name: "x" }, { name: "new" }, { name: "web", image: "2", other: 1 }],
      whole: { b: 1 },
      map: { a: 1, b: 1 },
    });
  });
});

describe("the field manager of an Apply", () => {
  const named = { name: "web.v1", uid: "6f1f0c0e-7d7e-4d0e-9a59-7d3c5f3c6c11" };

  it("is told from those of others, also of a Transaction named like it", () => {
    expect(isApplyManager(applyManager(named))).toBe(true);
    expect(isApplyManager(fieldManager({ ...named, name: "apply" }))).toBe(false);
    expect(isApplyManager("janus-apply:somebody")).toBe(false);
  });

  it("names and marks its Transaction, and is legal", () => {
    expect(transactionOf(applyManager(named))).toEqual(named);
    expect(marks(applyManager(named), named.uid) && isFieldManager(applyManager(named))).toBe(true);
    expect(applyManager({ ...named, name: "x".repeat(253) })).toHaveLength(128);
  });
});

describe("null", () => {
  it("is left out of maps, at any depth, and stays in lists, where it is named", () => {
    const content = { a: null, b: { c: null, d: [{ e: null, f: 1 }, null] } };
    expect(withoutNulls(content)).toEqual({ b: { d: [{ f: 1 }, null] } });
    expect(nullItem(content)).toBe("b.d[1]");
    const plain = { a: [1, { b: "" }] };
    expect(withoutNulls(plain)).toBe(plain);
    expect(nullItem(plain)).toBeUndefined();
  });

  it("names the fields that are there, also in items of a list", () => {
    const live = { a: 1, l: [{ name: "web", image: "1" }], o: [{ b: 1 }] };
    const content = {
      a: null,
      z: null,
      l: [
        { name: "web", image: null },
        { name: "new", image: null },
      ],
      o: [{ b: null }],
    };
    expect(nulledFields(live, content, { "f:l": { [web]: item }, "f:o": {} })).toEqual({
      "f:a": {},
      "f:l": { [web]: { "f:image": {} } },
    });
    expect(nulledFields(live, { z: null }, {})).toBeUndefined();
  });
});

const object = (fieldsV1: object) => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "one", managedFields: [{ manager: "m", fieldsV1 }] },
  l: [{ name: "web" }, { name: "side" }, { name: "web" }],
});

it("finds two items with the same keys, and none in a list without keys", () => {
  expect(duplicateItem(object({ "f:l": { [web]: {}, [side]: {} } }) as never)).toEqual(["f:l", web]);
  expect(duplicateItem(object({ "f:l": {} }) as never)).toBeUndefined();
});
