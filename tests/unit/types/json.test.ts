import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asObject, canonical, equal, isObject, type Json, member } from "@janus/types";
import { arbitraryJson } from "../core/arbitrary-json.ts";

/** The same value with the keys of every object the other way round. */
const turned = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => turned(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, turned(inner)]),
  );
};

describe("JSON values", () => {
  it("are equal, and have the same canonical text, whatever the order of keys", () => {
    fc.assert(
      fc.property(arbitraryJson, (value) => {
        expect(equal(value, turned(value))).toBe(true);
        expect(canonical(turned(value))).toBe(canonical(value));
        expect(equal(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
    );
  });

  it("are equal just where their canonical text is", () => {
    fc.assert(
      fc.property(arbitraryJson, arbitraryJson, (a, b) => {
        expect(equal(a, b)).toBe(canonical(a) === canonical(b));
      }),
    );
  });

  it.each<readonly [unknown, unknown]>([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined }, { b: undefined }],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [null, {}],
    [null, undefined],
    [0, ""],
    [{ constructor: {} }, {}],
    [{ a: 1 }, { toString: 1 }],
  ])("%j and %j differ", (a, b) => {
    expect(equal(a, b)).toBe(false);
    expect(equal(b, a)).toBe(false);
  });
});

describe("an object", () => {
  it("has only what is its own", () => {
    const object = asObject(JSON.parse('{"__proto__":"p","a":null}'));
    expect(member(object, "__proto__")).toBe("p");
    expect(member(object, "a")).toBeNull();
    expect(member(object, "constructor")).toBeUndefined();
    expect(member({}, "__proto__")).toBeUndefined();
    expect(member(undefined, "a")).toBeUndefined();
  });

  it.each([null, undefined, [], "", 0, true])("is not %j", (value) => {
    expect(isObject(value)).toBe(false);
    expect(asObject(value)).toEqual({});
  });
});
