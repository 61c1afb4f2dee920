import { expect, it } from "vitest";
import { itemAt, listItems } from "../../../packages/controller/src/core/merge/list-element.ts";

it.each([
  ["as it is", "a-b", 'v:"a-b"'],
  ["with the escapes of Go", "a<b", String.raw`v:"a\u003cb"`],
  ["without them", "a<b", 'v:"a<b"'],
  ["with escapes that nobody needs", "a-b", String.raw`v:"a\u002db"`],
])("a member of a set is found by an element that writes it %s", (_, member, element) => {
  const items = ["x", member];
  expect(itemAt(items, element)).toBe(member);
  listItems({ type: "value" }, items);
  expect(itemAt(items, element)).toBe(member);
  expect(itemAt(["x"], element)).toBeUndefined();
});
