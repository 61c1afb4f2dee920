import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { MOST_CONTENTS, storedContent } from "@janus/controller/core/state/contents-data";

const bomb = (json: Buffer | string) => gzipSync(json).toString("base64");
const one = (value: string) =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, binaryData: { one: value } }) as never;

it.each([
  ["too large", bomb(Buffer.alloc(9 * 2 ** 20, 0x20))],
  ["very large", bomb(Buffer.alloc(300 * 2 ** 20, 0x20))],
  ["not UTF-8", bomb(Buffer.alloc(7.9 * 2 ** 20, 0xff))],
  ["truncated", Buffer.from(gzipSync(Buffer.alloc(7.9 * 2 ** 20, 0x20)).subarray(0, 7000)).toString("base64")],
])("of a bomb in 500 keys no more than two are looked at: %s", (_, value) => {
  const object = one(value);
  let weight = 0;
  let at = 0;
  for (; at < 500 && weight <= MOST_CONTENTS; at += 1)
    weight += storedContent(object, "one", MOST_CONTENTS - weight).weight;
  expect(at).toBeLessThanOrEqual(2);
});
