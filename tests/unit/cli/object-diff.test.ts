import { parseJson, readYaml } from "@janus/types";
import { expect, it } from "vitest";
import { objectDiff } from "../../../packages/cli/src/plan/object-diff.ts";

const configMap = (labels: Readonly<Record<string, string>>, data: Readonly<Record<string, string>> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "app", labels },
  data,
});

const linesAdded = (after: ReturnType<typeof configMap>): readonly string[] =>
  objectDiff("ConfigMap shop/app", undefined, after, { statusSubresource: false })
    .split("\n")
    .flatMap((line) => (line.startsWith("+") && !line.startsWith("+++") ? [line.slice(1)] : []));

const TAKEN_FOR_OTHERS = [
  "on",
  "Off",
  "yes",
  "n",
  "0o17",
  "017",
  "0b1",
  "1_000",
  "1e3",
  "true",
  "null",
  "~",
  ".5",
  "<<",
];

it.each([...TAKEN_FOR_OTHERS, "= a", "a\u0085b", " a"])(
  "shows the text %j in a diff as one, and not as what kubectl would read without quotes",
  (text) => {
    const after = configMap({ debug: text, [text]: "as a key" });
    expect(readYaml(linesAdded(after).join("\n"))).toEqual([{ value: after, line: 1 }]);
  },
);

it("shows a text in a diff line by line, also one with tabs, and without quotes where it needs none", () => {
  const lines = linesAdded(configMap({ tier: "web" }, { Makefile: "all:\n\tcc app.c\n" }));
  expect(lines).toEqual(expect.arrayContaining(["  Makefile: |", "    all:", "    \tcc app.c", "    tier: web"]));
});

it("shows all digits of an integer in a diff", () => {
  const after = { ...configMap({}), size: parseJson("9007199254740993") };
  expect(linesAdded(after)).toContain("size: 9007199254740993");
});
