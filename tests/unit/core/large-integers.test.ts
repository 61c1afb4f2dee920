import { replyOf } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { equal } from "../../../packages/controller/src/core/kubernetes/json.ts";
import { pack, snapshotKey, unpack } from "../../../packages/controller/src/core/snapshots/snapshot-data.ts";

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
