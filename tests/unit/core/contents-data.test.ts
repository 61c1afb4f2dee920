import { gzipSync } from "node:zlib";
import { digestOfContents, MOST_CONTENTS, storedContent } from "@janus/controller/core/state/contents-data";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { expect, it } from "vitest";

const map = (data: object, binaryData: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {},
  data,
  binaryData,
});
const secret = (data: object) => ({ apiVersion: "v1", kind: "Secret", metadata: {}, data });
const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString("base64");
const NO_JSON = E.left("is not a JSON object, plain or compressed with gzip");

it("is what was stored, plain or compressed, in whichever object", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ depthSize: "small" })), (content) => {
      const json = JSON.stringify(content);
      const objects = [
        map({ key: json }),
        map({}, { key: base64(json) }),
        map({}, { key: base64(gzipSync(json)) }),
        secret({ key: base64(json) }),
        secret({ key: base64(gzipSync(json)) }),
      ];
      for (const object of objects)
        expect(storedContent(object, "key", MOST_CONTENTS).content).toEqual(E.right(JSON.parse(json)));
    }),
  );
});

it("is refused where it is cut off, or altered, or no object", () => {
  const zipped = gzipSync(JSON.stringify({ data: { a: "some text that is compressed" } }));
  const wrong = [
    zipped.subarray(0, zipped.length / 2),
    zipped.subarray(0, 3),
    Buffer.from([0x1f, 0x8b, 0xff, 0xff, 0xff]),
    Buffer.from([0xff, 0xfe]),
    Buffer.from("- a: yaml"),
    Buffer.from("[{}]"),
    Buffer.from(""),
  ];
  for (const bytes of wrong)
    expect(storedContent(secret({ key: base64(bytes) }), "key", MOST_CONTENTS).content).toEqual(NO_JSON);
  expect(storedContent(secret({ key: "&" }), "key", MOST_CONTENTS).content).toEqual(E.left("is not base64"));
  expect(storedContent(secret({ other: "e30=" }), "key", MOST_CONTENTS).content).toEqual(E.left("is missing"));
  expect(storedContent(secret({}), "constructor", MOST_CONTENTS).content).toEqual(E.left("is missing"));
});

it("takes no more memory than it may, whatever is compressed in it", () => {
  const bomb = gzipSync(Buffer.alloc(300 * 2 ** 20, " "), { level: 1 });
  const before = process.memoryUsage().arrayBuffers;
  expect(storedContent(secret({ key: base64(bomb) }), "key", MOST_CONTENTS).content).toEqual(
    E.left("is larger than 8 MiB"),
  );
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
  // A list of many empty objects takes much more than its text.
  const many = JSON.stringify({ data: Array.from({ length: 500_000 }, () => ({})) });
  expect(storedContent(map({ key: many }), "key", MOST_CONTENTS).content).toEqual(E.left("is larger than 8 MiB"));
});

const digestOf = (data: object) => digestOfContents(secret(data));

it("has a digest of all data: a random key hides what the others are", () => {
  expect(digestOf({ a: "1", b: "2" })).toBe(digestOf({ b: "2", a: "1" }));
  expect(digestOf({ a: "1", salt: "x" })).not.toBe(digestOf({ a: "1", salt: "y" }));
  expect(digestOfContents(map({ a: "MQ==" }))).not.toBe(digestOfContents(map({}, { a: "MQ==" })));
});
