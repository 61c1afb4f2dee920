// Reads what git cat-file --batch prints, one object at a time.
import type { Readable } from "node:stream";
import * as O from "fp-ts/lib/Option.js";
import { type ObjectId, objectId } from "../core/git/object-id.ts";

const HEAD = /^([0-9a-f]+) (?:blob|tree|commit|tag) (\d+)$/u;

/** The objects that there are, in the order in which they were asked for. */
export async function* eachBlob(stdout: Readable): AsyncGenerator<readonly [id: ObjectId, content: Uint8Array]> {
  let chunks: Buffer[] = [];
  let size = 0;
  /** What is awaited: a line, or so many bytes with a newline behind them. */
  let awaited: { readonly id: ObjectId; readonly length: number } | undefined;
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
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
      if (O.isSome(id)) awaited = { id: id.value, length: Number(length) };
    }
    chunks = [all];
    size = all.length;
  }
}
