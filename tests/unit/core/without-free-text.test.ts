import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify, deniedVerb } from "../../../packages/types/src/error-class.ts";
import { withoutFreeText } from "../../../packages/controller/src/core/kubernetes/without-free-text.ts";
import type { ApiError } from "@janus/types";
import { arbitraryText } from "./arbitrary-text.ts";
import { relativeCost } from "../../fixtures/relative-cost.ts";

const refused = (message: string, code = 422, reason = "Invalid"): ApiError => ({
  type: "refused",
  code,
  reason,
  message,
  causes: [{ field: "data[key]", reason: "FieldValueInvalid", message }],
});

const told = (message: string): string => withoutFreeText(refused(message)).message;

const POLICY = "ValidatingAdmissionPolicy 'strong' with binding 'all' denied request";
const NOT_SHOWN = "(the message is not shown, since it may quote values)";

describe("of an error of a Secret", () => {
  it.each([
    ["as it is", 'got "hunter2"'],
    ["beside letters, in base64", "weak password: user_aHVudGVyMg=="],
    ["one line of several", "the second line is hunter2"],
    ["as Go quotes it", String.raw`Invalid value: "\"hunter2\\n\""`],
    ["escaped for HTML", String.raw`got hunter2 \u003chunter2\u003e`],
    ["in part", "begins with hunter"],
    ["as a float", "got 4.711e+03"],
  ])("no value is told: %s", (_, message) => {
    const shown = JSON.stringify(withoutFreeText(refused(message)));
    expect(shown).not.toMatch(/hunter|aHVu|4\.711/u);
    expect(shown).toContain("data[key] (FieldValueInvalid)");
  });

  it("no value is told, whatever it is, and whatever is said around it", () => {
    const value = arbitraryText({ minLength: 1 });
    fc.assert(
      fc.property(value, value, (text, around) => {
        expect(told(`${around}${text}${around}`)).toBe(`Invalid: data[key] (FieldValueInvalid) ${NOT_SHOWN}`);
      }),
    );
  });

  it.each([
    [`secrets "key" is forbidden: ${POLICY}: hunter2 is too short`, POLICY],
    [
      'admission webhook "keys.example.com" denied the request: hunter2',
      'admission webhook "keys.example.com" denied the request',
    ],
    [
      'secrets "key" is forbidden: exceeded quota: few, requested: secrets=1, used: secrets=2, limited: secrets=2',
      "exceeded quota: few",
    ],
  ])("is told who has refused it: %s", (message, words) => {
    expect(told(message)).toBe(`${words}: data[key] (FieldValueInvalid) ${NOT_SHOWN}`);
  });

  const DENIED =
    'secrets "key" is forbidden: User "system:serviceaccount:shop:deploy-sa" cannot create resource "secrets" in API group "" in the namespace "shop"';

  it.each(['secrets "key" not found', 'secrets "key" already exists', DENIED])(
    "nothing is left out of what has no value: %s",
    (message) => expect(told(message)).toBe(message),
  );

  it.each([
    [DENIED, 403],
    [
      'users "x" is forbidden: User "janus" cannot impersonate resource "users" in API group "" at the cluster scope',
      403,
    ],
    ["failed to create typed patch object (shop/key; /v1, Kind=Secret): .data.key: expected string, got hunter2", 500],
    ["etcdserver: request is too large", 500],
    ["Request is too large: limit is 1 and hunter2", 413],
    ["hunter2", 409],
    ["hunter2", 500],
  ])("what follows from it stays the same: %s", (message, code) => {
    const fault = refused(message, code);
    expect([classify(withoutFreeText(fault)), deniedVerb(withoutFreeText(fault))]).toEqual([
      classify(fault),
      deniedVerb(fault),
    ]);
  });

  it("nothing is told of a response that is no Kubernetes object", () => {
    const fault: ApiError = { type: "unanswered", cause: "malformed", message: "no Kubernetes object: hunter2" };
    expect(withoutFreeText(fault).message).toBe("the answer is no Kubernetes object");
  });

  it("that is long, nothing takes long", async () => {
    const keys = Array.from({ length: 3000 }, (_, n) => `data[bad key ${n}]: Invalid value: "bad key ${n}"`);
    const fault = { ...refused(keys.join(", ")), causes: keys.map((message) => ({ field: "data", message })) };
    const all = [fault as ApiError, refused('is forbidden: User "'.repeat(20_000)), refused("a ".repeat(200_000))];
    for (const one of all) expect(await relativeCost(() => withoutFreeText(one))).toBeLessThan(30);
  });
});
