// Tests which labels a label selector selects, and which selectors are refused.
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { LabelSelector } from "../../../packages/git-journal/src/api/references.ts";
import { labelPredicate } from "../../../packages/git-journal/src/core/label-selector.ts";
import { rulesOfClusterWatchRule, rulesOfWatchRule } from "../../../packages/git-journal/src/core/selection.ts";
import { right } from "./right.ts";

const holds = (selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean =>
  right(labelPredicate(selector))(labels);
const expression = (operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: "k", operator, values }],
});

it("In and NotIn, Exists and DoesNotExist are opposites", () => {
  fc.assert(
    fc.property(fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }), (k) => {
      const labels: Readonly<Record<string, string>> = k === undefined ? {} : { k };
      expect(holds(expression("In", "a", "b"), labels)).toBe(!holds(expression("NotIn", "a", "b"), labels));
      expect(holds(expression("Exists"), labels)).toBe(!holds(expression("DoesNotExist"), labels));
      expect(holds(expression("In", "a", "b"), labels)).toBe(k === "a" || k === "b");
      expect(holds(expression("Exists"), labels)).toBe(k !== undefined);
    }),
  );
});

it("no selector, and an empty one, selects all; names of Object.prototype are no labels", () => {
  expect(right(labelPredicate())({})).toBe(true);
  expect(holds({}, {})).toBe(true);
  expect(holds({ matchExpressions: [{ key: "constructor", operator: "Exists" }] }, {})).toBe(false);
});

it.each([
  ["In", [], "In of k needs values"],
  ["Exists", ["a"], "Exists of k takes no values: remove them"],
  ["Gt", ["1"], "Gt is no operator of a label selector: use In, NotIn, Exists or DoesNotExist"],
])("%s %j is refused", (operator, values, why) => {
  expect(labelPredicate(expression(operator, ...values))).toEqual(E.left(why));
  expect(
    rulesOfWatchRule({ rules: [{ resources: ["*"] }], objectSelector: expression(operator, ...values) }, "shop"),
  ).toEqual(E.left(`objectSelector: ${why}`));
  expect(
    rulesOfClusterWatchRule({
      rules: [{ resources: ["*"], scope: "Namespaced", namespaceSelector: expression(operator, ...values) }],
    }),
  ).toEqual(E.left(`rules[0].namespaceSelector: ${why}`));
});
