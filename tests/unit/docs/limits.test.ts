import { MAX_CHANGES, MAX_DEPTH } from "@janus/api";
import { expect, it } from "vitest";
import { page } from "./page.ts";

it.each([
  ["docs/configuration.md", `| \`changes\` | required, 1 to ${MAX_CHANGES} |`],
  ["docs/getting-started.md", `A Transaction has at most ${MAX_CHANGES} changes`],
  ["docs/guarantees.md", `measures it at the limits: ${MAX_CHANGES} changes`],
  ["docs/internals.md", `| changes | ${MAX_CHANGES} |`],
  ["packages/cdk8s/src/transaction-props.ts", `all of them or none. At most ${MAX_CHANGES}. */`],
  ["docs/guarantees.md", `nested deeper than ${MAX_DEPTH} levels`],
  ["docs/internals.md", `| objects and lists in each other | ${MAX_DEPTH} levels |`],
])("%s says what the limit is: %s", (name, sentence) => {
  expect(page(name).replaceAll(/\s+/gu, " ").includes(sentence)).toBe(true);
});
