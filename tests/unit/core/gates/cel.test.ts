import { type JsonObject, parseJson } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { compileCel } from "../../../../packages/controller/src/core/gates/cel.ts";
import { failed, met, notYet } from "../../../../packages/controller/src/core/gates/gate-state.ts";
import { relativeCost } from "../../../fixtures/relative-cost.ts";

const run = (expression: string, self: object) => {
  const program = compileCel(expression);
  if (E.isLeft(program)) throw new Error(`${program.left.message} at ${program.left.position}`);
  return program.right(self);
};

const web: JsonObject = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "web", labels: { "app.kubernetes.io/name": "web" }, generation: 3 },
  spec: { replicas: 3, ratio: 0.5, paused: false, images: ["a:v1", "b:v1"] },
  status: {
    observedGeneration: 3,
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Synced", status: "False", reason: "Waiting" },
    ],
    __proto__: null,
  },
};

it.each<readonly [string, true | string]>([
  ["self.spec.replicas == 3", true],
  ["self.spec.replicas == 3.0", true],
  ["self.spec.replicas + 1 == 4", true],
  ["self.spec.ratio * 2.0 < 1.5", true],
  ["self.metadata.generation == self.status.observedGeneration", true],
  ["!self.spec.paused && self.metadata.name.startsWith('w')", true],
  ["self.metadata.labels['app.kubernetes.io/name'] in ['web', 'db']", true],
  ["'missing' in self.metadata.labels", ""],
  ["has(self.status.missing)", "self.status.missing has no value"],
  ["!has(self.status.missing) || self.status.missing == 1", true],
  ["self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true],
  ["self.status.conditions.all(c, c.status == 'True')", "self.status.conditions has 2 items"],
  ["self.status.conditions.exists_one(c, c.status == 'True')", true],
  ["self.status.conditions.filter(c, c.status == 'False').map(c, c.reason) == ['Waiting']", true],
  ["self.status.conditions[1].reason == 'Waiting'", true],
  ["self.spec.images.all(i, i.matches('^[a-z]+:v[0-9]+$'))", true],
  ["size(self.spec.images) == 2 && self.spec.images.size() > 1", true],
  ["self.spec.replicas > 5 ? self.missing : self.kind == 'Thing'", true],
  ["timestamp('2026-01-01T00:00:00Z') < timestamp('2026-01-02T00:00:00Z')", true],
  ["int('12') == 12 && string(12) == '12' && double('1.5') == 1.5", true],
])("%s: %s", (expression, result) => {
  expect(run(expression, web)).toEqual(result === true ? met : notYet(result));
});

it.each([
  ["self.status.missing == 1", "field not found: missing"],
  ["self.missing.phase == 'Running'", "field not found: missing"],
  ["self.spec.images[7] == 'a'", expect.stringContaining("out of bounds")],
  ["self.spec.replicas > 'a'", expect.stringContaining("no matching overload")],
  ["self.spec.replicas / 0 == 1", expect.stringContaining("divide by zero")],
  ["self.spec.replicas", "neither true nor false"],
])("%s cannot be told: %s", (expression, why) => {
  expect(run(expression, web)).toEqual({ type: "waiting", message: why });
});

it("a list that is shorter than the index is not yet there, and no mistake", () => {
  expect(run("self.a[0] == 1", { a: [] })).toMatchObject({ type: "waiting" });
});

it("an integer that JavaScript would round is compared exactly", () => {
  const self = parseJson('{"a": 9007199254740993}') as object;
  expect(run("self.a == 9007199254740993", self)).toEqual(met);
  expect(run("self.a == 9007199254740992", self)).toEqual(notYet("self.a is 9007199254740993"));
});

it.each(["__proto__", "constructor", "toString"])("a field called %s is one like any other", (name) => {
  expect(run(`has(self.${name})`, {})).toEqual(notYet(`self.${name} has no value`));
  expect(run(`self.${name} == 1`, parseJson(`{"${name}": 1}`) as object)).toEqual(met);
});

describe("what cannot be evaluated, or to no use, is refused with its position", () => {
  it.each([
    ["self.a == ", 8, "found = but expecting"],
    ["self.a == b.c", 11, "b is not known: the object is self"],
    ["self.a.exists(x, y)", 18, "y is not known: the object is self"],
    ["self.a.exists(x, x) && x", 24, "x is not known: the object is self"],
    ["self.a == foo(1)", 11, "the function foo is not supported, or not with this"],
    ["self.a.exists(1, true)", 7, "the function exists is not supported, or not with this"],
    ["timestamp(self.a).getHours() == 1", 18, "the function getHours is not supported, or not with this"],
    ["size(self.a, 1) == 1", 1, "the function size is not called like this"],
    ["startsWith(self.a) == true", 1, "the function startsWith is not called like this"],
    ["has(self)", 1, "has takes a field, as in has(self.status.phase)"],
    ["self.a.matches(self.b)", 7, "matches takes a regular expression in quotes, so that it can be checked now"],
    ["self.a.matches('(')", 7, "not a regular expression of RE2: "],
    ["self.a.matches('(?=x)')", 7, "not a regular expression of RE2: "],
    [`self.a.matches('${String.raw`\\pL{1000}`.repeat(50)}')`, 7, "not a regular expression of at most 2000 states"],
    [`self.a.matches('(${"a?".repeat(400)}){1000}')`, 7, "not a regular expression of at most 2000 states"],
    [`self.a.matches('(${"a?".repeat(400)})(?i){1000}')`, 7, "not a regular expression of at most 2000 states"],
    [`self.a.matches('[]](${"a?".repeat(400)}){3,6}')`, 7, "not a regular expression of at most 2000 states"],
    [
      `self.a.matches('(${"a?".repeat(400)}${String.raw`\\Q)(\\E`}){1000}')`,
      7,
      "not a regular expression of at most 2000 states",
    ],
    ["self.a == b'x'", 11, "bytes are not supported"],
    ["self.a == 99999999999999999999", 11, "an int has 64 bits"],
    ["self.a == Foo{b: 1}", 11, "messages are not supported"],
    ["3", 1, "this is never true or false"],
    ["self.a + 1", 8, "this is never true or false"],
    ["[self.a]", 1, "this is never true or false"],
    ["self.a.map(x, x)", 7, "this is never true or false"],
    ["self.a ? 1 : 'x'", 1, "this is never true or false"],
  ])("%s", (expression, position, message) => {
    expect(compileCel(expression)).toEqual(
      E.left({
        position: expect.any(Number),
        message: expect.stringContaining(message),
      }),
    );
    expect(compileCel(expression)).toMatchObject({ left: { position } });
  });
});

/** A value that is twice as large as the one before it, again and again. */
const doubling = (start: string, join: string, depth: number): string => {
  const names = Array.from({ length: depth }, (_, at) => `v${at}`);
  const open = names.map((name, at) => `[${join.replaceAll("x", at === 0 ? start : `v${at - 1}`)}].all(${name}, `);
  return `${open.join("")}v${depth - 1} == v${depth - 1}${")".repeat(depth)}`;
};

const repeated = (part: string, count: number, join: string) => Array.from({ length: count }, () => part).join(join);

describe("no expression takes long, whatever the object", () => {
  const list = Array.from({ length: 20_000 }, (_, index) => index);
  const text = "a".repeat(1_000_000);
  const self = {
    list,
    map: Object.fromEntries(list.map((index) => [`k${index}`, index])),
    text,
    lines: list.map(() => "a".repeat(50)),
    digits: "9".repeat(1_000_000),
    nested: list.slice(0, 1000).map(() => list.slice(0, 20)),
  };
  it.each([
    ["loops in loops", "self.list.all(a, self.list.all(b, self.list.all(c, true)))"],
    ["loops over literals", `${"[1,2,3,4,5,6,7,8,9,0].all(x, ".repeat(9)}true${")".repeat(9)}`],
    ["loops that end at once, over long lists", "self.list.all(a, self.list.exists(b, true))"],
    ["loops over maps", "self.map.all(a, self.map.exists(b, true))"],
    ["a list that grows", "self.list.map(a, self.list).map(b, b).size() == 1"],
    ["lists of lists", `[self.list.map(a, self.list)].map(v, self.list.map(a, v)) == [1]`],
    ["equality of what doubles", doubling("self.list", "[x, x]", 25)],
    ["a text that doubles", doubling("self.text", "x + x", 25)],
    ["search for a text in a text", "self.list.all(a, !self.text.contains(self.text + 'b'))"],
    ["a regular expression", "self.list.all(a, !self.text.matches('(a{30}){30}b$'))"],
    ["a regular expression on short lines", "self.lines.all(l, !l.matches('(a{30}){30}b$'))"],
    ["a regular expression of many states", String.raw`self.lines.all(l, !l.matches('${"\\\\pL{999}".repeat(2)}'))`],
    ["a number of many digits", "self.list.all(a, int(self.digits) != 1)"],
    ["an index that is no key", "self.list.all(a, self.map[a] != 1 || true)"],
    ["membership", "self.list.all(a, !(-1 in self.list))"],
    ["sizes of texts", "self.list.all(a, size(self.text) > 1)"],
    ["a comparison of everything", "self.nested.all(a, self == self)"],
  ])("%s", async (_, expression) => {
    const program = compileCel(expression);
    if (E.isLeft(program)) throw new Error(program.left.message);
    let result: unknown;
    expect(await relativeCost(() => (result = program.right(self)))).toBeLessThan(30);
    expect(result).toEqual(failed("takes too long on this object"));
  });

  it.each([
    ["lists", `has({'a': [${repeated("x", 200, ",")}]}.a)`],
    ["maps", `has({${repeated("x: x", 150, ",")}}.a) || true`],
    ["empty lists", `size([${repeated("[]", 200, ",")}]) > 0`],
    ["fields that are there", repeated("has(self.list)", 50, " && ")],
    ["fields that are not", `${repeated("x.a", 100, " || ")} || true`],
    ["operators", repeated("true", 150, " && ")],
    ["conditions", `${repeated("x < 0 ? true : ", 40, "")}true`],
    ["operators on what is no boolean", `${repeated("x", 150, " && ")} || true`],
    ["errors that are passed on", `-'' ${repeated("- x", 200, "")} == 1 || true`],
  ])("each round pays for all that it evaluates: %s", async (_, body) => {
    const few = { list: list.slice(0, 2000) };
    expect(run("self.list.all(x, true)", few)).toEqual(met);
    const program = compileCel(`self.list.all(x, ${body})`);
    if (E.isLeft(program)) throw new Error(program.left.message);
    let result: unknown;
    expect(await relativeCost(() => (result = program.right(few)))).toBeLessThan(3);
    expect(result).toEqual(failed("takes too long on this object"));
  });

  it("what is nested too deep is not looked into", () => {
    const deep = Array.from({ length: 5_000 }).reduce<object>((inner) => ({ inner }), {});
    expect(run("self.inner == self", deep)).toEqual(failed("the object is nested deeper than 500 levels"));
  });

  it.each(["(", "[", "!", "-", "self.a.all(x, ", "{'a': ", "true || "])(
    "nor is %s, again and again, read for long",
    async (piece) => {
      const cost = await relativeCost(() => {
        compileCel(piece.repeat(Math.floor(1000 / piece.length)));
        compileCel(`${piece.repeat(Math.floor(500 / piece.length))}true${")".repeat(200)}`);
      });
      expect(cost).toBeLessThan(30);
    },
  );

  it.each([
    ["a class that is not closed", String.raw`[${"\\a".repeat(300)}`],
    ["backslashes in a class", `[${"\\".repeat(900)}`],
    ["classes in a class", `[${"[:a:]".repeat(150)}`],
    ["ranges that ignore case", `(?i)[${"B-\u{1E942}".repeat(60)}]`],
    ["ranges that ignore case, in escapes", String.raw`(?i:[${String.raw`B-\x{1E942}`.repeat(60)}])`],
    ["properties that ignore case", String.raw`(?si)${String.raw`\pL`.repeat(200)}`],
  ])("nor is a regular expression with %s read for long: it is refused", async (_, pattern) => {
    let isRefused = false;
    const cost = await relativeCost(() => (isRefused = E.isLeft(compileCel(`self.kind.matches(r"${pattern}")`))));
    expect(cost).toBeLessThan(30);
    expect(isRefused).toBe(true);
  });

  it("takes a regular expression that ignores case in ASCII", () => {
    expect(E.isRight(compileCel('self.kind.matches("(?i)^[a-z]+$")'))).toBe(true);
  });

  it("what an object has cost does not count for the next one", () => {
    const program = compileCel("self.list.all(a, self.list.all(b, a + b >= 0))");
    if (E.isLeft(program)) throw new Error(program.left.message);
    expect(program.right(self)).toEqual(failed("takes too long on this object"));
    expect(program.right({ list: [1, 2] })).toEqual(met);
  });

  it("while real ones are far from it", () => {
    const conditions = Array.from({ length: 40 }, (_, at) => ({
      type: `Type${at}`,
      status: "True",
      message: "x".repeat(500),
    }));
    const many = { status: { conditions }, spec: { types: conditions.map(({ type }) => type) } };
    const each = "self.spec.types.all(t, self.status.conditions.exists(c, c.type == t && c.status == 'True'))";
    expect(run(each, many)).toEqual(met);
  });
});
