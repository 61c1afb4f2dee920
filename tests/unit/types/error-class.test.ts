import { describe, expect, it } from "vitest";
import { classify, isAbsent, isTaken, mayBeApplied, messageOf } from "../../../packages/types/src/error-class.ts";
import type { ApiError } from "@janus/types";

const refused = (code: number, message = "", reason = ""): Extract<ApiError, { type: "refused" }> => ({
  type: "refused",
  code,
  reason,
  message,
  causes: [],
});
const notFound = (what: "object" | "other" | "path"): ApiError => ({
  type: "refused",
  code: 404,
  reason: "NotFound",
  message: "not found",
  causes: [],
  notFound: what,
});
const unanswered = (cause: Extract<ApiError, { type: "unanswered" }>["cause"]): ApiError => ({
  type: "unanswered",
  cause,
  message: "the connection was closed",
});

type Row = readonly [string, ApiError, ReturnType<typeof classify>, "may be made" | "is not made"];

const rows: readonly Row[] = [
  ["no answer in time", unanswered("deadline"), "transient", "may be made"],
  ["a broken connection", unanswered("connection"), "transient", "may be made"],
  ["a client that was closed", unanswered("aborted"), "transient", "may be made"],
  ["an answer that cannot be read", unanswered("malformed"), "transient", "may be made"],
  ["a request that never left", unanswered("never-sent"), "transient", "is not made"],
  ["400", refused(400, "unknown field"), "permanent", "is not made"],
  ["401, as while a token is rotated", refused(401, "Unauthorized"), "transient", "is not made"],
  ["403 by RBAC", refused(403, "is forbidden"), "permanent", "is not made"],
  ["403 by a quota", refused(403, "exceeded quota"), "permanent", "is not made"],
  ["404 of the object itself", notFound("object"), "conflict", "is not made"],
  ["404 of the namespace that it was to be created in", notFound("other"), "conflict", "is not made"],
  ["404 where nothing is served", notFound("path"), "transient", "is not made"],
  [
    "404 of a proxy, which may stand for any answer",
    refused(404, "<html>no such page</html>"),
    "transient",
    "may be made",
  ],
  ["405", refused(405), "permanent", "is not made"],
  ["408", refused(408), "transient", "may be made"],
  ["409 that exists", refused(409, "already exists", "AlreadyExists"), "conflict", "is not made"],
  ["409 that moved", refused(409, "has been modified", "Conflict"), "conflict", "is not made"],
  ["410", refused(410, "gone", "Expired"), "permanent", "is not made"],
  ["413", refused(413, "Request entity too large: limit is 3145728"), "permanent", "is not made"],
  ["422", refused(422, "is invalid", "Invalid"), "permanent", "is not made"],
  ["422 by an admission policy", refused(422, "denied the request"), "permanent", "is not made"],
  [
    "422 by the fence",
    { ...refused(422, "ValidatingAdmissionPolicy 'janus-fence' denied request"), fenced: true },
    "transient",
    "is not made",
  ],
  [
    "422 in the words of the fence",
    refused(422, "ValidatingAdmissionPolicy 'janus-fence' with binding 'janus-fence' denied request: janus.io/fence"),
    "permanent",
    "is not made",
  ],
  ["429", refused(429, "too many requests", "TooManyRequests"), "transient", "may be made"],
  ["500", refused(500, "internal error"), "transient", "may be made"],
  ["500 by etcd, of what is too large", refused(500, "etcdserver: request is too large"), "permanent", "may be made"],
  [
    "500 by an apply of what does not fit the schema",
    refused(500, "failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .data.a: expected string"),
    "permanent",
    "may be made",
  ],
  [
    "500 of an apply of what is no object of its kind",
    refused(
      500,
      "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.x: field not declared",
    ),
    "permanent",
    "may be made",
  ],
  [
    "500 of an apply of a value that cannot be what it should",
    refused(500, "failed to convert new object (shop/s; /v1, Kind=Secret) to proper version: illegal base64 data"),
    "permanent",
    "may be made",
  ],
  [
    "500 of an apply that a conversion webhook stands in the way of",
    refused(
      500,
      "failed to convert new object (shop/x; a.b/v2, Kind=X) to proper version: conversion webhook for a.b/v1, Kind=X failed: Post",
    ),
    "transient",
    "may be made",
  ],
  ["500 by a webhook that is down", refused(500, 'failed calling webhook "x"'), "transient", "may be made"],
  ["502 of a proxy", refused(502), "transient", "may be made"],
  ["503", refused(503), "transient", "may be made"],
  ["504", refused(504, "request did not complete within 5s"), "transient", "may be made"],
];

describe("a write that meets", () => {
  it.each(rows)("%s", (_, fault, means, doubt) => {
    expect(classify(fault)).toBe(means);
    expect(mayBeApplied(fault)).toBe(doubt === "may be made");
  });

  it("absence is what the API server says of the very object, and nothing else", () => {
    const absent = rows.flatMap(([name, fault]) => (isAbsent(fault) ? [name] : []));
    expect(absent).toEqual(["404 of the object itself"]);
  });

  it("a name is taken where the API server says so, not for any conflict", () => {
    const taken = rows.flatMap(([name, fault]) => (isTaken(fault) ? [name] : []));
    expect(taken).toEqual(["409 that exists"]);
  });

  it("a refusal is told in the server's own words, or by its code", () => {
    expect(messageOf(refused(403, "is forbidden"))).toBe("is forbidden");
    expect(messageOf(refused(502, "", "BadGateway"))).toBe("HTTP 502 BadGateway");
    expect(messageOf(unanswered("deadline"))).toBe("the connection was closed");
  });
});
