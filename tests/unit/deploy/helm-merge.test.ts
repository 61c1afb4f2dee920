import * as fc from "fast-check";
import { expect, it } from "vitest";
import { merge } from "../../../packages/deploy/src/helm/merge.ts";
import { type Node, nodeOf } from "../../../packages/deploy/src/helm/node.ts";

type Answers = Readonly<Record<string, boolean>>;

const isThere = (json: unknown): boolean => json !== undefined;

/** The JSON that is left when each condition has its answer; undefined where nothing is. */
const decide = (node: Node | undefined, answers: Answers): unknown => {
  if (node?.at === "choice") return decide(answers[node.when] === true ? node.yes : node.no, answers);
  if (node?.at === "scalar") return node.scalar;
  if (node?.at === "list") return node.items.map((item) => decide(item, answers)).filter(isThere);
  if (node?.at === "map")
    return Object.fromEntries(
      node.entries.map(([key, one]) => [key, decide(one, answers)] as const).filter(([, one]) => isThere(one)),
    );
  return undefined;
};

/** Of few different parts, so that two of them have much in common. */
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>("a", "b", 1, null),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("x", "y", "z"), tie("json")),
  ),
}));

const booleans = [true, false];

it("makes of two objects one that is either, by the condition", () => {
  fc.assert(
    fc.property(json, json, (yes, no) => {
      const merged = merge("c", nodeOf(yes), nodeOf(no));
      expect(decide(merged, { c: true })).toEqual(yes);
      expect(decide(merged, { c: false })).toEqual(no);
    }),
  );
});

it("and of four objects one that is each of them, by two conditions; any may be absent", () => {
  const maybe = fc.option(json, { nil: undefined });
  fc.assert(
    fc.property(maybe, maybe, maybe, maybe, (...all) => {
      const [a, b, c, d] = all.map((one) => (one === undefined ? undefined : nodeOf(one)));
      const merged = merge("outer", merge("inner", a, b), merge("inner", c, d));
      const decided = booleans.flatMap((outer) => booleans.map((inner) => decide(merged, { outer, inner })));
      expect(decided).toEqual(all);
    }),
  );
});

it("has what both have alike once", () => {
  const yes = { args: ["a", "b", "c"], same: { x: [1, 2] }, only: 1 };
  const no = { args: ["a", "c"], same: { x: [1, 2] } };
  expect(merge("c", nodeOf(yes), nodeOf(no))).toEqual({
    at: "map",
    entries: [
      [
        "args",
        {
          at: "list",
          items: [nodeOf("a"), { at: "choice", when: "c", yes: nodeOf("b") }, nodeOf("c")],
        },
      ],
      ["same", nodeOf({ x: [1, 2] })],
      ["only", { at: "choice", when: "c", yes: nodeOf(1) }],
    ],
  });
});
