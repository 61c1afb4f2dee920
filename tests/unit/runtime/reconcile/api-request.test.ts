import { configMaps, type KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import {
  type Answered,
  type ApiRequest,
  observeObject,
} from "../../../../packages/runtime/src/reconcile/api-request.ts";

const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name, uid: `uid-of-${name}`, resourceVersion },
});
const request = (verb: "get" | "delete", name = "app"): ApiRequest => ({
  purpose: verb,
  request: { verb, resource: configMaps, namespace: "shop", name },
});
const answered = (effect: ApiRequest, answer: KubeObject): Answered<ApiRequest> => ({
  type: "answered",
  effect,
  object: answer,
});
const refused = (code: number, reason: string): Answered<ApiRequest> => ({
  type: "refused",
  effect: request("get"),
  error: { type: "refused", code, reason, message: reason, causes: [] },
});

describe("an object, where nothing else is remembered,", () => {
  const former = object("app", "1");

  it("takes the answer to a write for its newest version", () => {
    expect(observeObject(former, answered(request("get"), object("app", "2"))).memory).toEqual(object("app", "2"));
  });

  it("is not taken for another object, which is answered", () => {
    expect(observeObject(former, answered(request("get", "other"), object("other", "9")))).toEqual({ memory: former });
  });

  it("is read again after its deletion, to which the answer is a Status, and after a conflict", () => {
    const status = { apiVersion: "v1", kind: "Status", metadata: {} };
    expect(observeObject(former, answered(request("delete"), status))).toEqual({ memory: former, isStale: true });
    expect(observeObject(former, refused(409, "Conflict"))).toEqual({ memory: former, isStale: true });
  });

  it("is tried again after any other error", () => {
    expect(observeObject(former, refused(500, "InternalError"))).toMatchObject({ failed: { code: 500 } });
  });
});
