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

it("looks an item up by a few sets of keys alone, however many a user has written into managedFields", () => {
  let looks = 0;
  const counted = new Proxy(
    { name: "a" },
    { getOwnPropertyDescriptor: (...of) => ((looks += 1), Reflect.getOwnPropertyDescriptor(...of)) },
  );
  const items = [counted];
  expect(itemAt(items, 'k:{"name":"a"}')).toBe(counted);
  for (let n = 0; n < 1000; n += 1) expect(itemAt(items, `k:{"a${n}":1}`)).toBeUndefined();
  expect(itemAt(items, 'k:{"name":"a"}')).toBe(counted);
  expect(looks).toBeLessThan(100);
});
