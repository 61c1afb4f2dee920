// Tests that a review is read, or allowed unread.
import { describe, expect, it } from "vitest";
import { allowed, requestOf, uidIn } from "../../../packages/git-journal/src/core/admission-review.ts";

describe("a review", () => {
  it("has a request", () => {
    expect(requestOf('{"kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE"}}')).toEqual({
      uid: "u",
      operation: "CREATE",
    });
  });

  it.each(["", "{", "[]", "null", "{}", '{"request":null}', '{"request":[1]}', "[".repeat(100_000)])(
    "that cannot be read has none: %#",
    (text) => {
      expect(requestOf(text)).toBeUndefined();
    },
  );

  it("of which only the beginning is known has a uid, if the beginning has", () => {
    const head =
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"705ab4f5-6393-11e8","kind":{';
    expect(uidIn(head)).toBe("705ab4f5-6393-11e8");
    expect(uidIn("{")).toBe("");
    expect(uidIn('{"uid":"\\"<>"}')).toBe("");
  });

  it("is allowed", () => {
    expect(JSON.parse(allowed("u"))).toEqual({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: "u", allowed: true },
    });
  });
});
