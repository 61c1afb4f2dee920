import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatGate,
  type Gate,
  MAX_GATE_LENGTH,
  parseGate,
} from "../../../../packages/controller/src/core/gates/gate.ts";
import { arbitraryGate } from "./arbitrary-gate.ts";
import { anyCharacter } from "../arbitrary-text.ts";

const field = (name: string) => ({ type: "field", name }) as const;

describe("a gate is read", () => {
  const cases: readonly (readonly [string, Gate])[] = [
    ["ready", { type: "ready" }],
    ["delete", { type: "delete" }],
    ["create", { type: "create" }],
    ["condition=Ready", { type: "condition", name: "Ready", value: "True" }],
    ["condition=ready=false", { type: "condition", name: "ready", value: "false" }],
    ["condition=Ready=Unknown", { type: "condition", name: "Ready", value: "Unknown" }],
    [
      "jsonpath={.status.phase}=Running",
      { type: "jsonpath", path: [field("status"), field("phase")], value: "Running" },
    ],
    ["jsonpath={.status.podIP}", { type: "jsonpath", path: [field("status"), field("podIP")] }],
    ["jsonpath={status.phase}", { type: "jsonpath", path: [field("status"), field("phase")] }],
    ["jsonpath=.status.phase=Running", { type: "jsonpath", path: [field("status"), field("phase")], value: "Running" }],
    ["jsonpath=status.phase=Running", { type: "jsonpath", path: [field("status"), field("phase")], value: "Running" }],
    [`jsonpath={.a}="x y"`, { type: "jsonpath", path: [field("a")], value: "x y" }],
    ["jsonpath={.a}='x'", { type: "jsonpath", path: [field("a")], value: "x" }],
    ["jsonpath={.a}=x=y", { type: "jsonpath", path: [field("a")], value: "x=y" }],
    ["cel=self.spec.replicas == 3", { type: "cel", expression: "self.spec.replicas == 3" }],
  ];
  it.each(cases)("%s", (text, gate) => {
    expect(parseGate(text)).toEqual(E.right(gate));
  });
});

describe("a mistake is told with its position", () => {
  it.each([
    ["", 1, "ready, condition=NAME, jsonpath={PATH}, cel=EXPRESSION, create or delete expected"],
    ["redy", 1, "ready, condition=NAME, jsonpath={PATH}, cel=EXPRESSION, create or delete expected"],
    ["Delete", 1, "ready, condition=NAME, jsonpath={PATH}, cel=EXPRESSION, create or delete expected"],
    [" ready", 1, "ready, condition=NAME, jsonpath={PATH}, cel=EXPRESSION, create or delete expected"],
    ["condition=", 11, "the type of the condition is missing, as in condition=Ready"],
    ["condition==True", 11, "the type of the condition is missing, as in condition=Ready"],
    ["condition=Ready=", 17, "the status of the condition is missing, as in condition=Ready=False"],
    ["jsonpath=", 10, "the name of a field is missing"],
    ["jsonpath={}", 11, "the name of a field is missing"],
    ["jsonpath={['a']}", 11, "the name of a field is missing"],
    ["jsonpath={.a", 13, "} is missing"],
    ["jsonpath={.a}x", 14, "= or the end expected instead of x"],
    ["jsonpath={.a}=", 15, "the value is missing, as in jsonpath={.status.phase}=Running"],
    ["jsonpath={.a}=''", 15, "the value is missing, as in jsonpath={.status.phase}=Running"],
    ["jsonpath={.a}==b", 15, "one = expected instead of two"],
    ["jsonpath='{.a}'=b", 11, "= or the end expected instead of {"],
    ["jsonpath={.a b}", 13, "} expected instead of  "],
    ["jsonpath={$.a}", 11, "a path begins with a field, not with $ or @"],
    ["jsonpath={..a}", 12, "the recursive descent .. is not supported"],
    ["jsonpath={.a..b}", 14, "the recursive descent .. is not supported"],
    ["jsonpath={.a.}", 14, "the name of a field is missing"],
    [String.raw`jsonpath=.a\ `.trimEnd(), 13, "a character is missing after the backslash"],
    ["jsonpath={.a[0:2]}", 14, "slices and unions are not supported"],
    ["jsonpath={.a[0,1]}", 14, "slices and unions are not supported"],
    ['jsonpath={.a["b"]}', 14, "one index, [*], ['field'] or a filter"],
    ["jsonpath={.a['b}", 17, "the closing ' is missing"],
    ["jsonpath={.a['b'}", 17, "] expected instead of }"],
    ["jsonpath={.a[?(.b==1)]}", 16, "@ expected instead of ."],
    ["jsonpath={.a[?(@.b==x)]}", 21, "a quoted text, a number, true, false or a path from @ expected instead of x"],
    ["jsonpath={.a[?(@.b=1)]}", 19, ")] expected instead of ="],
    ["jsonpath={.a[?(@.b==", 21, "a quoted text, a number, true, false or a path from @ is missing"],
    ["jsonpath={.a[?(@.b==1]}", 22, ")] expected instead of ]"],
    ["jsonpath={.a[?(@.b[*])]}", 20, "a path in a filter may not have [*] or a filter of its own"],
    ["cel=", 5, "found end of input"],
    ["cel=self.a = 1", 12, "found = but expecting end of input"],
    ["cel=self.a == b", 15, "b is not known: the object is self"],
  ])("%s", (text, position, message) => {
    expect(parseGate(text)).toEqual(E.left({ position, message: expect.stringContaining(message) }));
  });

  it("in a text that is too long", () => {
    expect(parseGate(`cel=${"!".repeat(MAX_GATE_LENGTH)}true`)).toEqual(
      E.left({ position: MAX_GATE_LENGTH + 1, message: "longer than 1024 characters" }),
    );
  });
});

it("what is written from a gate is read as the same gate", () => {
  fc.assert(
    fc.property(arbitraryGate, (gate) => {
      expect(parseGate(formatGate(gate))).toEqual(E.right(gate));
    }),
  );
});

it("any text is read as a gate, or refused with a position in it or right after it", () => {
  const words = [
    "ready",
    "condition=",
    "jsonpath=",
    "cel=",
    "{",
    "}",
    ".a",
    "[0]",
    "[?(@.b==",
    ")]",
    "'",
    '"',
    "=",
    "\\",
  ];
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 3 }))).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (text) => {
      const gate = parseGate(text);
      const again = E.isRight(gate) ? parseGate(formatGate(gate.right)) : gate;
      const position = E.isLeft(gate) ? gate.left.position : 1;
      expect(again).toEqual(gate);
      expect(position).toBeGreaterThanOrEqual(1);
      expect(position).toBeLessThanOrEqual(text.length + 1);
    }),
    { numRuns: 1000 },
  );
});
