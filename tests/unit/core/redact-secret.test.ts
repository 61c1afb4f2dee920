import * as fc from "fast-check";
import { expect, it } from "vitest";
import { redactSecret, redactSensitive } from "../../../packages/controller/src/core/kubernetes/redact-secret.ts";
import { arbitraryText } from "./arbitrary-text.ts";
import type { ApiError } from "@janus/types";
import { relativeCost } from "../../fixtures/relative-cost.ts";

const refused = (message: string): ApiError => ({
  type: "refused",
  code: 422,
  reason: "Invalid",
  message,
  causes: [{ field: "data[key]", message }],
});

it.each([
  ["as it is", { stringData: { key: "hunter2" } }, 'got "hunter2"', 'got "…"'],
  ["in base64", { stringData: { key: "hunter2" } }, "got aHVudGVyMg==, no", "got …, no"],
  ["out of base64", { data: { key: "aHVudGVyMg==" } }, "got hunter2", "got …"],
  ["out of base64, in any script", { data: { key: "0LHQvtC70YzRiNC+0Lk=" } }, "got большой", "got …"],
  ["escaped", { stringData: { key: 'two\nlines "quoted"' } }, String.raw`got "two\nlines \"quoted\""`, 'got "…"'],
  ["below the wrong type", { stringData: { key: { deep: ["hunter2", 7] } } }, "got [hunter2 7]", "got [… …]"],
  ["only where it stands by itself", { stringData: { key: "is" } }, "this is it", "this … it"],
])("hides what a Secret's error quotes of it: %s", (_, body, said, told) => {
  expect(redactSecret(refused(said), body)).toEqual({ ...refused(told) });
});

it("hides every value, whatever is in it", () => {
  const value = arbitraryText({ minLength: 1 }).filter(
    (text) => !"before … after".includes(text) && !/[[\]]/.test(text),
  );
  fc.assert(
    fc.property(value, (text) => {
      const { message } = redactSecret(refused(`before [${text}] after`), { stringData: { key: text } });
      expect(message).toBe("before […] after");
    }),
  );
});

it("leaves sentences without values as they are", () => {
  const fault = refused('secrets "there" is forbidden: exceeded quota');
  expect(redactSecret(fault, { metadata: { name: "there" }, stringData: { key: "hunter2" } })).toEqual(fault);
});

it("hides every value of a sensitive kind, and not which object it is", () => {
  const body = {
    apiVersion: "example.com/v1",
    kind: "Account",
    metadata: { name: "main", namespace: "shop", labels: { team: "blue" } },
    spec: { password: "hunter2", pin: 4711 },
  };
  const said = 'Account.example.com "main" is invalid: spec.password: Invalid value: "hunter2", 4711 of blue in shop';
  const told = 'Account.example.com "main" is invalid: spec.password: Invalid value: "…", … of … in shop';
  expect(redactSensitive(refused(said), body)).toEqual(refused(told));
});

/** Of a Secret with so many keys that are none, as the API server writes it. */
const badKeys = (count: number): { readonly fault: ApiError; readonly body: object } => {
  const keys = Array.from({ length: count }, (_, n) => `bad key ${n}`);
  const told = keys.map((key) => `data[${key}]: Invalid value: "${key}": a valid config key must consist of …`);
  return {
    fault: { ...refused(told.join(", ")), causes: told.map((message) => ({ field: "data", message })) } as ApiError,
    body: { stringData: Object.fromEntries(keys.map((key, n) => [key, `hunter${n}`])) },
  };
};

it.each([
  ["thousands of values in an error that is as long", badKeys(3_000)],
  [
    "a value that is in every sentence ten thousands of times",
    { fault: refused("hunter, ".repeat(30_000)), body: { stringData: { key: "," } } },
  ],
])("holds up nobody: %s", async (_, { fault, body }) => {
  let message = "";
  expect(await relativeCost(() => ({ message } = redactSecret(fault, body)))).toBeLessThan(30);
  expect(message).not.toMatch(/hunter\d/u);
});
