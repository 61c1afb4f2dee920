// Tests that no value of a Secret is left in what is shown, in any of its forms.
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { scrubbed, secretValues, withoutParts } from "../../../packages/blueprints/src/core/scrub.ts";

const VALUE = `p"4 ss/w+rd'<&>`;

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  data: { password: Buffer.from(VALUE).toString("base64"), short: Buffer.from("abc").toString("base64") },
};
const object = { apiVersion: "v1", kind: "ActionSet", metadata: { name: "run", uid: "u" } };
const valuesOf = (...secrets: readonly KubeObject[]) =>
  secretValues({ object, facts: new Map(secrets.map((one, at) => [`Secret/shop/${at}`, E.right(one)])) });
const values = valuesOf(secret);

it.each([
  ["plain", VALUE],
  ["base64", Buffer.from(VALUE).toString("base64")],
  ["escaped for a URL", encodeURIComponent(VALUE)],
  ["escaped for JSON", JSON.stringify(VALUE).slice(1, -1)],
  ["escaped for JSON by Go", String.raw`p\"4 ss/w+rd'\u003c\u0026\u003e`],
  ["escaped for a query by Go", "p%224+ss%2Fw%2Brd%27%3C%26%3E"],
  ["as a shell prints its commands", String.raw`p"4 ss/w+rd'\''<&>`],
])("a value is taken out: %s", (_, form) => expect(scrubbed(`+ x ${form} y`, values)).toBe("+ x *** y"));

it("values of less than eight bytes are left: they are part of any text", () =>
  expect(scrubbed("abc", values)).toBe("abc"));

const dataOf = (value: string): KubeObject => ({ ...secret, data: { value: Buffer.from(value).toString("base64") } });
const binary = Buffer.from("\u0000\u00ff\u00fe secret", "latin1").toString("base64");
it("a value that is no text is taken out in base64", () =>
  expect(scrubbed(`x ${binary} y`, valuesOf({ ...secret, data: { binary } }))).toBe("x *** y"));

it("a line of a value that has many is taken out", () =>
  expect(scrubbed("x 0123456789abcdef y", valuesOf(dataOf("first line\n0123456789abcdef\nlast line")))).toBe(
    "x *** y",
  ));

/** Random enough that no part of it is the same as another one. */
const secretText = fc.string({
  minLength: 24,
  maxLength: 60,
  unit: fc.constantFrom(...Array.from("0123456789abcdef ZY\n")),
});

it("a value is taken out of base64 of a longer text, wherever it stands in that", () =>
  fc.assert(
    fc.property(fc.string({ maxLength: 5 }), secretText, fc.string({ maxLength: 5 }), (before, value, after) => {
      const shown = scrubbed(Buffer.from(`${before}${value}${after}`).toString("base64"), valuesOf(dataOf(value)));
      // Its neighbours are left, and at most four characters at either end that they have a part in.
      expect(shown.length).toBeLessThanOrEqual(Math.ceil((4 / 3) * Buffer.byteLength(before + after)) + 11);
      expect(shown).toContain("***");
    }),
  ));

it("no sixteen characters in a row of a value are in the last lines, wherever these begin and end", () =>
  fc.assert(
    fc.property(secretText, fc.nat(30), fc.nat(30), (value, from, to) => {
      const shown = withoutParts(`+ x ${value.slice(from, value.length - to)} y`, valuesOf(dataOf(value)));
      for (let at = 0; at + 16 <= value.length; at += 1) expect(shown).not.toContain(value.slice(at, at + 16));
    }),
  ));

it("the rest of the last lines is left, such as the command of a Pod in the Secret that was made for it", () => {
  const command = "pg_dump -h pg -U postgres shop";
  const own = { ...dataOf(command), metadata: { name: "x-args", labels: { "janus.io/actionset-uid": "u" } } };
  expect(withoutParts(`+ ${command} --verbose; failed`, valuesOf(own, secret))).toBe(`+ ${command} --verbose; failed`);
});
