// Tests what is kept of objects that the configuration follows from, and which of their changes matter.
import type { JsonObject, KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import {
  isBehind,
  isNews,
  keptApiService,
  keptDefinition,
  keptNamespace,
  keptObject,
} from "../../../packages/git-journal/src/core/watched-objects.ts";

const object = (fields: JsonObject, metadata: JsonObject = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "K",
  metadata: { name: "one", uid: "u", resourceVersion: "1", annotations: { a: "b" }, ...metadata },
  ...fields,
});

describe("news", () => {
  it.each<readonly [string, KubeObject, boolean]>([
    ["a spec", object({ spec: { a: 2 } }), true],
    ["another object of the name", object({ spec: { a: 1 } }, { uid: "v" }), true],
    ["a status", object({ spec: { a: 1 }, status: { b: 2 } }, { resourceVersion: "2" }), false],
    ["a label", object({ spec: { a: 1 } }, { labels: { a: "b" }, resourceVersion: "2" }), false],
  ])("of one of the four kinds: %s", (_, now, expected) => {
    expect(isNews(keptObject(object({ spec: { a: 1 }, status: { b: 1 } })), keptObject(now))).toBe(expected);
  });

  it("of a namespace are its labels", () => {
    const before = keptNamespace(object({ status: { phase: "Active" } }));
    expect(isNews(before, keptNamespace(object({}, { labels: { a: "b" } })))).toBe(true);
    expect(isNews(before, keptNamespace(object({ status: { phase: "Terminating" } }, { resourceVersion: "2" })))).toBe(
      false,
    );
    expect(isNews(undefined, before)).toBe(true);
  });

  it("of an APIService are its group, and that it is there", () => {
    const before = keptApiService(object({ spec: { group: "a" } }));
    expect(isNews(before, keptApiService(object({ spec: { group: "a", version: "v2" } })))).toBe(false);
  });
});

const definition = (isEstablished: boolean, served = true, metadata: JsonObject = {}): KubeObject =>
  keptDefinition(
    object(
      {
        spec: { versions: [{ name: "v1", served }] },
        status: { conditions: [{ type: "Established", status: isEstablished ? "True" : "False" }] },
      },
      metadata,
    ),
  );

describe("discovery is behind", () => {
  const widgets = { group: "example.com", plural: "widgets", kind: "Widget", namespaced: true, versions: ["v1"] };
  const NAME = "widgets.example.com";
  it.each<readonly [string, boolean, boolean]>([
    [
      "while a definition is established and not served",
      isBehind([], new Map([[NAME, definition(true)]]), new Set()),
      true,
    ],
    ["not while it is not established", isBehind([], new Map([[NAME, definition(false)]]), new Set()), false],
    [
      "not if it has no version that is served",
      isBehind([], new Map([[NAME, definition(true, false)]]), new Set()),
      false,
    ],
    [
      "not while it is deleted",
      isBehind([], new Map([[NAME, definition(true, true, { deletionTimestamp: "2026-01-01T00:00:00Z" })]]), new Set()),
      false,
    ],
    ["while one is served whose definition is gone", isBehind([widgets], new Map(), new Set([NAME])), true],
    ["not when both agree", isBehind([widgets], new Map([[NAME, definition(true)]]), new Set()), false],
  ])("%s", (_, actual, expected) => {
    expect(actual).toBe(expected);
  });
});
