// Generates objects as the API server might send them, with texts that YAML takes for something else.
import type { Json, JsonObject } from "@janus/types";
import * as fc from "fast-check";
import { anyCharacter } from "../core/arbitrary-text.ts";

const numberLike = fc.string({ unit: fc.constantFrom(...Array.from("0123456789._+-eExobZT: ")), maxLength: 8 });
const indicators = fc.string({
  unit: fc.constantFrom(...Array.from("ab \n\t:#-,[]{}'\"&*!|>?%@\\~=<")),
  maxLength: 12,
});
const lines = fc
  .array(fc.constantFrom("", "a: b", "  indented", "\ttabbed", "- x", "# no comment", "---", "...", "end "), {
    maxLength: 5,
  })
  .map((all) => all.join("\n"));
const WORDS = [
  "<<",
  "=",
  "7e12345",
  ".",
  "0o7",
  "0b1",
  ".1_0",
  "_1",
  "yes",
  "true",
  "False",
  "off",
  "y",
  "N",
  "No",
  "NULL",
  "~",
  "",
  "1:30",
  "2024-01-01",
  "1.2.3",
  "10.0.0.1",
  "-.inf",
  ".NaN",
  "0x1F",
  "--flag=x",
  "-Xmx1g",
  "*a",
  "&a",
  "é",
  "😀",
  "\u0085",
  "\u2028",
  "\uFEFF",
  "1e5",
  "+1",
  "__proto__",
  "constructor",
  "k".repeat(1200),
  "é".repeat(600),
  "a: ".repeat(400),
  '"'.repeat(520),
  "1_000",
  "0x1p3",
  ".e5",
  "-e5",
  "1__0",
  "685_230.15",
  "190:20:30",
  "2001-12-14 21:59:43.10 -5",
  "---",
  "--- a",
  "...",
  "? a",
  "%YAML 1.1",
  "!!str a",
  "a:\tb",
  "#a\nb",
  "---\nb",
  "\u00A0a\u00A0",
  "a\u202Eb",
];

/** Keys and values. */
export const text = fc.oneof(
  numberLike,
  indicators,
  lines,
  fc.constantFrom(...WORDS),
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.lorem({ maxCount: 30 }),
);

/** Any JSON value. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ readonly value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** A sanitised object. */
export const object: fc.Arbitrary<JsonObject> = fc
  .record({
    name: text,
    labels: fc.dictionary(text, text, { maxKeys: 3 }),
    spec: json,
    other: fc.dictionary(text, json, { maxKeys: 4 }),
  })
  .map(({ name, labels, spec, other }) => ({
    ...other,
    spec,
    kind: "Thing",
    metadata: { labels, name, zone: "a" },
    apiVersion: "v1",
  }));
