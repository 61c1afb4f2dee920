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
])("a bomb in 500 keys: %s", (_, value) => {
  const object = one(value);
  const start = performance.now();
  let weight = 0;
  let at = 0;
  for (; at < 500 && weight <= MOST_CONTENTS; at += 1)
    weight += storedContent(object, "one", MOST_CONTENTS - weight).weight;
  const took = performance.now() - start;
  expect(took).toBeLessThan(2000);
});
