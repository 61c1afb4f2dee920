// Reads what git cat-file --batch prints, one object at a time.
import type { Readable } from "node:stream";
import * as O from "fp-ts/lib/Option.js";
import { type ObjectId, objectId } from "../core/git/object-id.ts";

const HEAD = /^([0-9a-f]+) (?:blob|tree|commit|tag) (\d+)$/u;

/** The most bytes of a content: no file of an object is nearly as large. */
const MOST = 16 * 1024 * 1024;

/**
 * Yields the objects that there are, in the order in which they were asked for.
 *
 * Guarantees: an object that is larger than `most` bytes comes without its content, which is never held.
 */
export async function* eachBlob(
  stdout: Readable,
  most = MOST,
): AsyncGenerator<readonly [id: ObjectId, content: Uint8Array]> {
  let chunks: Buffer[] = [];
  let size = 0;
  /** The content that is awaited, with a newline behind it; undefined: a line is awaited. */
  let awaited: { readonly id: ObjectId; readonly length: number } | undefined;
  /** The bytes of a too large content that are still to be passed over. */
  let passed = 0;
  for await (const whole of stdout as AsyncIterable<Buffer>) {
    const chunk = whole.subarray(passed);
    passed -= Math.min(passed, whole.length);
    chunks.push(chunk);
    size += chunk.length;
    if (awaited !== undefined && size <= awaited.length) continue;
    let all: Buffer = Buffer.concat(chunks);
    for (;;) {
      if (awaited !== undefined) {
        if (all.length <= awaited.length) break;
        yield [awaited.id, all.subarray(0, awaited.length)];
        all = all.subarray(awaited.length + 1);
        awaited = undefined;
      }
      const end = all.indexOf(0x0a);
      if (end < 0) break;
      const [, name = "", length = ""] = HEAD.exec(all.toString("latin1", 0, end)) ?? [];
      const id = objectId(name);
      all = all.subarray(end + 1);
      if (O.isNone(id)) continue;
      if (Number(length) <= most) {
        awaited = { id: id.value, length: Number(length) };
        continue;
      }
      yield [id.value, Buffer.alloc(0)];
      passed = Math.max(0, Number(length) + 1 - all.length);
      all = all.subarray(Number(length) + 1);
    }
    chunks = [all];
    size = all.length;
  }
}
