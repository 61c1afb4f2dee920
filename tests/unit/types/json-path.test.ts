import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { findByPath, formatJsonPath, parseJson, parseJsonPath } from "@janus/types";
import { relativeCost } from "../../fixtures/relative-cost.ts";

const object = {
  metadata: { annotations: { "example.com/a": "dotted", "it's": "quoted" } },
  list: [
    { name: "a", value: 1, on: true },
    { name: "b", value: 2, on: false, other: "b" },
    { name: "c", value: "3" },
  ],
  lists: [
    [1, 2],
    [3, 4],
  ],
};

const read = (text: string) => {
  const path = parseJsonPath(text, 0);
  if (E.isLeft(path)) throw new Error(path.left.message);
  return path.right.value;
};

it.each([
  ["{.list[0].name}", ["a"]],
  ["list[1].name", ["b"]],
  ["{.list[-1].name}", ["c"]],
  ["{.list[3]}", []],
  ["{.list[-4]}", []],
  ["{.list[*].name}", ["a", "b", "c"]],
  ["{.lists[*][0]}", [1, 3]],
  ["{.metadata[*]}", []],
  ["{.metadata[0]}", []],
  ["{.list.name}", []],
  ["{.metadata.annotations['example.com/a']}", ["dotted"]],
  [String.raw`{.metadata.annotations['example\.com/a']}`, ["dotted"]],
  [String.raw`{.metadata.annotations.example\.com/a}`, ["dotted"]],
  [String.raw`{.metadata.annotations['it\'s']}`, ["quoted"]],
  ['{.list[?(@.name=="b")].value}', [2]],
  ["{.list[?(@.name == 'b')].value}", [2]],
  ["{.list[?( @['name']!='b' )].name}", ["a", "c"]],
  ["{.list[?(@.value>1)].name}", ["b"]],
  ["{.list[?(@.value>=1)].name}", ["a", "b"]],
  ["{.list[?(@.value<2)].name}", ["a"]],
  ["{.list[?(@.value<=2.5)].name}", ["a", "b"]],
  ["{.list[?(@.value<=2)].name}", ["a", "b"]],
  ["{.list[?(@.value==-1)].name}", []],
  ['{.list[?(@.name>"a")].name}', ["b", "c"]],
  ["{.list[?(@.on==true)].name}", ["a"]],
  ["{.list[?(@.on!=true)].name}", ["b"]],
  ["{.list[?(@.on>false)].name}", []],
  ["{.list[?(@.on)].name}", ["a", "b"]],
  ["{.list[?(@.name==@.other)].name}", ["b"]],
  ["{.list[?(@.missing==1)].name}", []],
  ["{.lists[?(@[0]==3)][1]}", [4]],
  ["{.metadata[?(@.name=='a')]}", []],
])("%s", (text, values) => {
  expect(findByPath(read(text), object)).toEqual(values);
  expect(findByPath(read(formatJsonPath(read(text))), object)).toEqual(values);
});

it.each(["__proto__", "constructor"])("finds a field called %s only where the object has one", (name) => {
  expect(findByPath(read(`{.${name}}`), {})).toEqual([]);
  expect(findByPath(read(`{.${name}}`), parseJson(`{"${name}": 1}`))).toEqual([1]);
});

it.each([".a".repeat(480), "[0]".repeat(320)])("looks no further for %s than there is something", async (path) => {
  const list = Array.from({ length: 500_000 }, () => 1);
  const cost = await relativeCost(() => expect(findByPath(read(`{.list[?(@${path})]}`), { list })).toEqual([]));
  expect(cost).toBeLessThan(30);
});

it("compares integers that JavaScript would round as numbers", () => {
  const list = parseJson('{"list": [{"value": 9007199254740993}]}');
  expect(findByPath(read("{.list[?(@.value>9007199254740)].value}"), list)).toHaveLength(1);
});
