import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "@janus/types";

/** More levels than the stack has room for, and than the API server takes. */
const nested = (leaf: string): string => `${'{"a":['.repeat(10_000)}${leaf}${"]}".repeat(10_000)}`;

/** What is at the bottom of it. */
const leafOf = (value: unknown): unknown => {
  let inner = value;
  while (typeof inner === "object" && inner !== null && "a" in inner) [inner] = inner.a as readonly unknown[];
  return inner;
};

const rounded = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("JSON of the API server", () => {
  it.each(["1", '"12345678901234567890"', "12345678901234567890"])("is read however deep it is nested: %s", (leaf) => {
    expect(JSON.stringify(leafOf(parseJson(nested(leaf))))).toBe(leaf);
  });

  it("is what it says, but for integers, which stay as they are written", () => {
    const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('"', "\\", "1234567890123456789", ",", "{", "\n", "é", "-") }),
      digits,
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        digits,
        text.map((value) => JSON.stringify(value)),
        fc.constantFrom(
          "null",
          "true",
          "1.12345678901234567890",
          "-1234567890123456789.5",
          "1e21",
          "12e+3",
          "[]",
          "{}",
        ),
        fc.array(tie("tree") as fc.Arbitrary<string>).map((all) => `[${all.join(", ")}]`),
        fc
          .dictionary(fc.oneof(text, fc.constantFrom("__proto__", "constructor")), tie("tree") as fc.Arbitrary<string>)
          .map(
            (all) =>
              `{${Object.entries(all)
                .map(([key, value]) => `${JSON.stringify(key)}: ${value}`)
                .join()}}`,
          ),
      ),
    }));
    fc.assert(
      fc.property(tree, (json) => {
        expect(rounded(parseJson(json))).toEqual(JSON.parse(json));
      }),
    );
    fc.assert(
      fc.property(fc.array(digits), (all) => {
        expect(JSON.stringify(parseJson(`[${all.join(",")}]`))).toBe(`[${all.join(",")}]`);
      }),
    );
  });

  it.each([
    "",
    "{",
    '{"a":12345678901234567890',
    '"1234567890123456',
    "[1e999,12345678901234567890]]",
    "01234567890123456789",
  ])("is none where it ends too early or too late: %s", (text) => {
    expect(parseJson(text)).toBeUndefined();
  });
});
