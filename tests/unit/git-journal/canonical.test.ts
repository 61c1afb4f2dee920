// Tests that the file of an object is read as this object by every reader of YAML, and that its bytes are always the same.
import { equal, isObject, type Json, type JsonObject, parseJson, readYaml } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { json, object } from "./arbitrary-object.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["YAML 1.1", (text) => parse(text, { version: "1.1" })],
  ["YAML 1.2", (text) => parse(text, { version: "1.2" })],
  ["kubectl", (text) => readYaml(text)[0]?.value],
];

it.each(READERS)("a reader of %s reads the object that was written", (_, read) => {
  fc.assert(
    fc.property(object, (one) => {
      expect(read(canonicalYaml(one))).toEqual(one);
    }),
    { numRuns: 500 },
  );
});

/** The same object with its fields in the opposite order. */
const reversed = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(reversed)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .map(([name, inner]) => [name, reversed(inner)] as const)
            .toReversed(),
        )
      : value;

it("equal objects have the same bytes, in whatever order their fields are", () => {
  fc.assert(
    fc.property(object, (one) => {
      expect(canonicalYaml(reversed(one) as JsonObject)).toBe(canonicalYaml(one));
    }),
  );
});

it("different objects have different bytes", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(canonicalYaml({ a }) === canonicalYaml({ a: b })).toBe(equal(a, b));
    }),
  );
});

it("there are no carriage returns, tabs at the begin of lines, and blank lines in the end", () => {
  fc.assert(
    fc.property(object, (one) => {
      const text = canonicalYaml(one);
      expect(text).not.toMatch(/\r|^\t|^---|^\.\.\./mu);
      expect(text).toMatch(/[^\n]\n$/u);
    }),
  );
});

describe("the form", () => {
  it("begins with what an object is, and then is in order", () => {
    const labels = { b: "2", a: "1" };
    const metadata = { zone: "x", annotations: { c: "3" }, labels, namespace: "shop", name: "app", generateName: "a-" };
    expect(
      canonicalYaml({ data: { b: "1", a: "2" }, metadata, kind: "ConfigMap", apiVersion: "v1", binaryData: {} }),
    ).toBe(
      [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata:",
        "  name: app",
        "  namespace: shop",
        "  labels:",
        '    a: "1"',
        '    b: "2"',
        "  annotations:",
        '    c: "3"',
        "  generateName: a-",
        "  zone: x",
        "binaryData: {}",
        "data:",
        '  a: "2"',
        '  b: "1"',
        "",
      ].join("\n"),
    );
  });

  it("has lists in the column of their key, and no list or object on a line of its own", () => {
    const containers = [{ name: "a", args: ["--x", "y z"], env: [], none: {} }, [["deep"]], null];
    expect(canonicalYaml({ spec: { containers } })).toBe(
      [
        "spec:",
        "  containers:",
        "  - args:",
        "    - --x",
        "    - y z",
        "    env: []",
        "    name: a",
        "    none: {}",
        "  - - - deep",
        "  - null",
        "",
      ].join("\n"),
    );
  });

  it.each([
    ["a\nb\n", "t: |\n  a\n  b\n"],
    ["a\n\n\tb", "t: |-\n  a\n\n  \tb\n"],
    ["a\n\n", String.raw`t: "a\n\n"` + "\n"],
    [" a\nb", String.raw`t: " a\nb"` + "\n"],
    ["a\r\nb", String.raw`t: "a\r\nb"` + "\n"],
    ["a\n \nb", String.raw`t: "a\n \nb"` + "\n"],
    ["nginx:1.27", "t: nginx:1.27\n"],
    ["1.27", 't: "1.27"\n'],
    ["1.5Gi", "t: 1.5Gi\n"],
    ["on", 't: "on"\n'],
    ["{{ x }}", 't: "{{ x }}"\n'],
    ["$(VAR)", "t: $(VAR)\n"],
    ["a: b", 't: "a: b"\n'],
    ["a #b", 't: "a #b"\n'],
    ["\u0085", String.raw`t: "\u0085"` + "\n"],
    [`${"long ".repeat(100)}x`, `t: ${"long ".repeat(100)}x\n`],
  ])("of %j", (t, expected) => {
    expect(canonicalYaml({ t })).toBe(expected);
  });

  it("has numbers as they were sent", () => {
    const sent = '{"a":9007199254740993,"b":1.5,"c":1e+21,"d":-1e-7,"e":18446744073709551615,"f":1.25e+30}';
    expect(canonicalYaml(parseJson(sent) as JsonObject)).toBe(
      "a: 9007199254740993\nb: 1.5\nc: 1.0e+21\nd: -1.0e-7\ne: 18446744073709551615\nf: 1.25e+30\n",
    );
  });
});
