// Functions that only conditions of WaitV2 have give what kubectl prints with them.
import { fromJson, parseTemplate, renderTemplate, textOfRendered } from "@janus/gotemplate";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { kubectlWith } from "../fixtures/cluster.ts";

const EXPRESSIONS = [
  "exists .",
  'exists . "data"',
  'exists . "data" "none"',
  'exists . "data" "none" "deeper"',
  'exists . "data" "text" 0',
  'exists . "data" "text" 4',
  'exists . "data" "text" 5',
  'exists . "data" "text" -1',
  'exists . "data" "text" "x"',
  'exists . "data" "text" 1.0',
  'exists . "data" 0',
  'exists . "data" true',
  'exists . "data" ""',
  'exists . "none" 0',
  'exists "text" 1',
  "exists 7",
  "exists 7 0",
  "exists nil",
  "exists .none",
  'exists .metadata.ownerReferences 0 "name"',
  "exists .metadata.ownerReferences 1",
  'exists .metadata.ownerReferences "0"',
  "base64decode .data.encoded",
  'base64decode ""',
  'base64decode "YQ=="',
];

const BROKEN = ['base64decode "YQ"', 'base64decode "*"', "base64decode 7"];

const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "one", ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }] },
  data: { text: "abcde", encoded: Buffer.from("grüß dich").toString("base64") },
};

/** What kubectl prints; undefined: an error. */
const printed = async (template: string): Promise<string | undefined> => {
  const flags = ["--dry-run=client", "--validate=false", "-o", `go-template=${template}`, "-f", "-"];
  const { code, stdout } = await kubectlWith({ stdin: JSON.stringify(object) }, "create", ...flags);
  return code === 0 ? stdout : undefined;
};

const rendered = (template: string): string | undefined => {
  const parsed = parseTemplate(template, "kubectl");
  const options = { now: new Date(0), random: () => new Uint8Array(), missingKey: "zero", dialect: "kubectl" } as const;
  const text = E.flatMap(parsed, (one) => renderTemplate(one, fromJson(object), options));
  return E.isRight(text) ? textOfRendered(text.right) : undefined;
};

it("give what kubectl prints", async () => {
  const template = EXPRESSIONS.map((one) => `${one}: {{ ${one} }}`).join("\n");
  expect(rendered(template)?.split("\n")).toEqual((await printed(template))?.split("\n"));
});

it.each(BROKEN)("are errors where they are errors of kubectl: {{ %s }}", async (one) => {
  const template = `{{ ${one} }}`;
  expect([rendered(template), await printed(template)]).toEqual([undefined, undefined]);
});
