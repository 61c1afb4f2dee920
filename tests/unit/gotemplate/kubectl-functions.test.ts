// Tests that the functions of kubectl bear the marks of what their results depend on.
import { fromJson, map, parseTemplate, renderTemplate, str, taint, type Value } from "@janus/gotemplate";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";

const OPTIONS = { now: new Date(0), random: () => new Uint8Array(), dialect: "kubectl" } as const;

it.each<[string, Value, string]>([
  ['{{ exists . "a" }}', taint(fromJson({ a: 1 })), "true"],
  ['{{ exists . "a" "b" }}', map({ a: taint(fromJson({})) }), "false"],
  ["{{ base64decode .a }}", map({ a: taint(str("YQ==")) }), "a"],
])("%s of what is marked is marked", (source, data, text) => {
  const rendered = E.flatMap(parseTemplate(source, "kubectl"), (template) => renderTemplate(template, data, OPTIONS));
  expect(rendered).toEqual(E.right([{ text, isTainted: true }]));
});
