import type { Change } from "@janus/api";
import { replyOf } from "@janus/kube";
import { equal, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { pack, snapshotKey, unpack } from "../../../packages/controller/src/core/snapshots/snapshot-data.ts";
import { author, place, thing } from "./thing.ts";

const text = (counter: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Counter","metadata":{"name":"c","resourceVersion":"7"},"spec":{"counter":${counter}}}`;

const read = (counter: string) => {
  const reply = replyOf({ status: 200, retryAfter: undefined, body: text(counter) }, 0);
  if (E.isLeft(reply)) throw new Error(reply.left.message);
  return reply.right;
};

it("keeps integers that a JavaScript number would round, from the API server into a snapshot and back", () => {
  const object = read("9007199254740993");
  expect(JSON.stringify(object["spec"])).toBe('{"counter":9007199254740993}');
  const { packs } = pack(new Map([[0, object]]));
  const back = unpack(
    snapshotKey(0, object),
    packs.map(({ data }) => data),
  );
  expect(JSON.stringify(back?.["spec"])).toBe('{"counter":9007199254740993}');
  expect(equal(back, object)).toBe(true);
  expect(equal(read("9007199254740995"), object)).toBe(false);
});

const of = (ours: number, theirs: string) => thing({ spec: { ours, theirs: read(theirs)["spec"] as JsonObject } });

it("of others stays what it is where nothing tells what a Patch has set", () => {
  const target = { apiVersion: "v1", kind: "Thing", name: "thing" };
  const change: Change = { type: "Patch", target, content: { spec: { ours: 2 } } };
  const { put } = restoration(change, place, of(1, "9007199254740993"), of(2, "9007199254740995"), author);
  expect(JSON.stringify((put as KubeObject)["spec"])).toBe('{"ours":1,"theirs":{"counter":9007199254740995}}');
});
