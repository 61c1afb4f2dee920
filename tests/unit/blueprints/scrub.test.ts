// Tests that no value of a Secret is left in what is shown, in any of its forms.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { scrubbed, secretValues } from "../../../packages/blueprints/src/core/scrub.ts";

const VALUE = 'p"4 ss/w+rd';

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  data: { password: Buffer.from(VALUE).toString("base64"), short: Buffer.from("abc").toString("base64") },
};
const object = { apiVersion: "v1", kind: "ActionSet", metadata: { name: "run", uid: "u" } };
const values = secretValues({ object, facts: new Map([["Secret/shop/s", E.right(secret)]]) });

it.each([
  ["plain", VALUE],
  ["base64", Buffer.from(VALUE).toString("base64")],
  ["escaped for a URL", encodeURIComponent(VALUE)],
  ["escaped for JSON", JSON.stringify(VALUE).slice(1, -1)],
])("a value is taken out: %s", (_, form) => expect(scrubbed(`+ x ${form} y`, values)).toBe("+ x *** y"));

it("values of less than eight bytes are left: they are part of any text", () =>
  expect(scrubbed("abc", values)).toBe("abc"));
