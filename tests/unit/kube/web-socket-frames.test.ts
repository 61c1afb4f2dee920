// Frames of WebSocket as they come over a connection.
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frameOf, type Message, messageReader } from "../../../packages/kube/src/http/web-socket-frames.ts";

const MOST = 200_000;

/** Pieces of at most `size` bytes. */
const cut = (bytes: Buffer, size: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));

const readAll = (chunks: readonly Buffer[]): readonly Message[] => {
  const read = messageReader(MOST);
  return chunks.flatMap((chunk) => {
    const messages = read(chunk);
    if (E.isLeft(messages)) throw new Error(messages.left);
    return messages.right;
  });
};

const mask = Buffer.of(1, 2, 3, 4);

describe("a message", () => {
  it("comes as it was sent, whatever its length, masked or not, however the bytes are cut", () => {
    const lengths = fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 100_000);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(lengths, fc.boolean()), { maxLength: 4 }),
        fc.integer({ min: 700 }),
        (sent, size) => {
          const payloads = sent.map(([length], n) => Buffer.alloc(length, `${n}abc`));
          const frames = payloads.map((payload, n) => frameOf("binary", payload, sent[n]?.[1] ? mask : undefined));
          expect(readAll(cut(Buffer.concat(frames), size))).toEqual(
            payloads.map((payload) => ({ type: "binary", payload })),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  it("is read byte by byte, too", () => {
    const bytes = Buffer.concat([frameOf("binary", Buffer.alloc(200, "x"), mask), frameOf("ping", Buffer.from("p"))]);
    expect(readAll(cut(bytes, 1))).toEqual([
      { type: "binary", payload: Buffer.alloc(200, "x") },
      { type: "ping", payload: Buffer.from("p") },
    ]);
  });

  it("is put together from its fragments, between which others may come", () => {
    const [first, last] = [frameOf("binary", Buffer.from("one ")), frameOf("binary", Buffer.from("two"))];
    first[0] = 0x02; // not the last one
    last[0] = 0x80; // continues
    expect(readAll([first, frameOf("ping", Buffer.alloc(0)), frameOf("pong", Buffer.alloc(0)), last])).toEqual([
      { type: "ping", payload: Buffer.alloc(0) },
      { type: "binary", payload: Buffer.from("one two") },
    ]);
  });

  it("is an error if it is longer than what is allowed, in one frame or many, or none of WebSocket", () => {
    const long = frameOf("binary", Buffer.alloc(MOST + 1));
    expect(messageReader(MOST)(long.subarray(0, 10))).toEqual(E.left(`a WebSocket frame of ${MOST + 1} bytes`));
    const fragment = frameOf("binary", Buffer.alloc(MOST));
    fragment[0] = 0x02;
    const read = messageReader(MOST);
    expect(read(fragment)).toEqual(E.right([]));
    expect(read(fragment)).toEqual(E.left(`a WebSocket message of more than ${MOST} bytes`));
    expect(messageReader(MOST)(Buffer.from("HTTP/1.1"))).toEqual(E.left("what is no WebSocket frame"));
  });
});
