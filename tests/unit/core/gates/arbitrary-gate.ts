import * as fc from "fast-check";
import type { Gate } from "../../../../packages/controller/src/core/gates/gate.ts";
import type { JsonPath } from "@janus/types";

type Step = JsonPath[number];

const text = fc.oneof(
  fc.constantFrom(
    "status",
    "phase",
    "example.com/x",
    "a b",
    "it's",
    'say "x"',
    "back\\slash",
    "=",
    "]",
    ")]",
    "é",
    "𝒳",
  ),
  fc.string({ maxLength: 4 }),
);
const field: fc.Arbitrary<Step> = text.map((name) => ({ type: "field", name }));
const index: fc.Arbitrary<Step> = fc.integer({ min: -5, max: 20 }).map((index) => ({ type: "index", index }));
const inner: fc.Arbitrary<JsonPath> = fc.array(fc.oneof(field, index), { maxLength: 3 });
const number = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((millionths) => millionths / 1000 + 0);
const operand = fc.oneof(
  text,
  number,
  fc.boolean(),
  inner.map((path) => ({ path })),
);
const filter: fc.Arbitrary<Step> = fc.oneof(
  inner.map((path) => ({ type: "filter" as const, path })),
  fc
    .tuple(inner, fc.constantFrom("==" as const, "!=" as const, "<" as const, ">=" as const), operand)
    .map(([path, operator, operand]) => ({ type: "filter" as const, path, compare: { operator, with: operand } })),
);
const first: fc.Arbitrary<Step> = text.filter((name) => name !== "").map((name) => ({ type: "field", name }));

/** As the parser makes them: a path begins with a field that has a name. */
export const arbitraryPath: fc.Arbitrary<JsonPath> = fc
  .tuple(first, fc.array(fc.oneof(field, index, fc.constant<Step>({ type: "all" }), filter), { maxLength: 4 }))
  .map(([one, rest]) => [one, ...rest]);

const value = text
  .map((value) => value.replaceAll(/^['"]+|['"]+$/g, ""))
  .filter((value) => value.trim() !== "" && !value.startsWith("="));

const EXPRESSIONS = [
  "self.spec.replicas == self.status.readyReplicas",
  'self.status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
  "self.a.b.filter(x, x > 1).size() == 2 || self.metadata.name.matches('^a+$')",
  "has(self.status) && self.status.items.all(i, i.x in [1, 2.5, 'a'])",
  "self[0]['a'] + 1 < int(self.b) ? !self.c : self.d.map(k, k) == {'a': [null]}",
];

export const arbitraryGate: fc.Arbitrary<Gate> = fc.oneof(
  fc.constantFrom<Gate>({ type: "ready" }, { type: "create" }, { type: "delete" }),
  fc
    .tuple(
      text.filter((name) => name !== "" && !name.includes("=")),
      text.filter((value) => value !== ""),
    )
    .map(([name, value]) => ({ type: "condition" as const, name, value })),
  arbitraryPath.map((path) => ({ type: "jsonpath" as const, path })),
  fc.tuple(arbitraryPath, value).map(([path, value]) => ({ type: "jsonpath" as const, path, value })),
  fc.constantFrom(...EXPRESSIONS).map((expression) => ({ type: "cel" as const, expression })),
);
