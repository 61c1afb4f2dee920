import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate } from "../../packages/controller/src/core/gates/evaluate.ts";
import { parseGate } from "../../packages/controller/src/core/gates/gate.ts";
import { seed } from "../fixtures/sample.ts";
import { askOracle, hasOracle } from "./oracle/oracle.ts";

/** The values that kubectl finds, as it prints them; or why it gives up, which for a gate is not yet. */
interface Found {
  readonly values: readonly string[] | null;
  readonly error?: string;
}

const object: KubeObject = {
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "web", labels: { "example.com/x": "dotted", plain: "label" } },
  spec: { replicas: 3, ratio: 0.5, paused: false, nothing: null, empty: {}, none: [] },
  status: {
    phase: "Running",
    nodes: ["a", "b"],
    conditions: [
      { type: "Ready", status: "True", weight: 1 },
      { type: "Synced", status: "False", weight: 2, reason: "it's" },
    ],
    matrix: [[{ x: 1 }, { x: 2 }], [{ x: 3 }]],
  },
};

/** As kubectl decides it from what its JSONPath finds. */
const isMet = ({ values, error }: Found, wanted: string | undefined): boolean =>
  error === undefined && values?.length === 1 && (wanted === undefined || values[0]?.trim() === wanted.trim());

const ask = (path: string, wanted?: string): string => {
  const gate = parseGate(`jsonpath=${path}${wanted === undefined ? "" : `=${wanted}`}`);
  if (E.isLeft(gate)) throw new Error(`${path}: ${gate.left.message} at ${gate.left.position}`);
  return evaluate(gate.right, object).type;
};

const FIELDS = [
  "metadata",
  "labels",
  "plain",
  String.raw`example\.com/x`,
  "spec",
  "replicas",
  "ratio",
  "paused",
  "nothing",
];
const MORE = ["empty", "none", "status", "phase", "nodes", "conditions", "type", "weight", "matrix", "x", "missing"];
const field = fc.constantFrom(...FIELDS, ...MORE);
const right = fc.constantFrom('"Ready"', "'True'", "1", "2", "0.5", "true", "false", "@.status", '"missing"');
const step = fc.oneof(
  { weight: 6, arbitrary: field.map((name) => `.${name}`) },
  { weight: 2, arbitrary: field.map((name) => `['${name}']`) },
  { weight: 2, arbitrary: fc.integer({ min: -3, max: 3 }).map((index) => `[${index}]`) },
  { weight: 2, arbitrary: fc.constant("[*]") },
  { weight: 1, arbitrary: field.map((name) => `[?(@.${name})]`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom("type", "status", "weight", "x"), fc.constantFrom("==", "!=", "<", "<=", ">", ">="), right)
      .map(([name, operator, operand]) => `[?(@.${name}${operator}${operand})]`),
  },
);
/** Paths that lead somewhere, and then on at random. */
const begin = fc.constantFrom(
  ".status.conditions",
  ".status.nodes",
  ".status.matrix",
  ".status",
  ".spec",
  ".metadata.labels",
  ".spec.replicas",
  ".spec.none",
  ".missing",
);
const path = fc.tuple(begin, fc.array(step, { maxLength: 3 })).map(([first, rest]) => `{${first}${rest.join("")}}`);

describe.skipIf(!(await hasOracle()))(`jsonpath is met where kubectl wait is done (JANUS_SEED=${seed})`, () => {
  it("on any path", async () => {
    const paths = fc.sample(path, { numRuns: 2000, seed });
    const answers = await askOracle<Found>(
      "jsonpath",
      paths.map((path) => ({ path, object })),
    );
    const compared = paths.flatMap((path, at) => {
      const found = answers[at] ?? { values: null, error: "no answer" };
      // With each value that it could be, and with none.
      return [undefined, "True", "Running", "3", "0.5", "<nil>", "false", "dotted"].map((wanted) => {
        const is = ask(path, wanted) === "met";
        // What kubectl cannot compare it does not; nor do we, whatever its text would be.
        const isNested = /^(map)?\[/.test(found.values?.[0] ?? "");
        const should = isMet(found, wanted) && (wanted === undefined || !isNested);
        return { path, wanted, found, is, should };
      });
    });
    expect(compared.filter(({ is, should }) => is !== should)).toEqual([]);
    expect(compared.filter(({ should }) => should).length).toBeGreaterThan(100);
  });
});
