// Encodes and decodes WebSocket frames (RFC 6455): whole messages, pings and the end.
import * as E from "fp-ts/lib/Either.js";

/** What a peer sends. Pongs are left out. */
export type Message =
  | { readonly type: "binary"; readonly payload: Buffer }
  | { readonly type: "ping"; readonly payload: Buffer }
  | { readonly type: "close" };

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const KNOWN: readonly number[] = [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG];
const OPCODES = { binary: BINARY, ping: PING, pong: PONG, close: CLOSE } as const;

/** One frame with all of the message. @param mask four random bytes; only clients mask */
export const frameOf = (type: keyof typeof OPCODES, payload: Buffer, mask?: Buffer): Buffer => {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 2 ** 16 ? 2 : 8;
  const head = Buffer.alloc(2 + extended);
  head[0] = 0x80 | OPCODES[type];
  head[1] = (mask === undefined ? 0 : 0x80) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat(mask === undefined ? [head, payload] : [head, mask, masked(payload, mask)]);
};

const masked = (payload: Buffer, mask: Buffer): Buffer => {
  const bytes = Buffer.from(payload);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (bytes[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return bytes;
};

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
  /** Bytes of all of it. */
  readonly size: number;
}

/** The frame that begins here, undefined if it is not all there yet; an error if it is longer than `most` bytes. */
const frameAt = (bytes: Buffer, most: number): E.Either<string, Frame | undefined> => {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return E.right(undefined);
  // Nobody has agreed to an extension, which is what the reserved bits are for.
  if ((first & 0x70) !== 0 || !KNOWN.includes(first & 0x0f)) return E.left("what is no WebSocket frame");
  const short = second & 0x7f;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  const isMasked = (second & 0x80) !== 0;
  const start = 2 + extended + (isMasked ? 4 : 0);
  if (bytes.length < start) return E.right(undefined);
  const length = extended === 0 ? short : extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > most) return E.left(`a WebSocket frame of ${length} bytes`);
  if (bytes.length < start + length) return E.right(undefined);
  const raw = bytes.subarray(start, start + length);
  const payload = isMasked ? masked(raw, bytes.subarray(start - 4, start)) : raw;
  return E.right({ opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload, size: start + length });
};

/**
 * Reads messages from the bytes of a connection, however these are cut, and messages from their fragments.
 *
 * Errors: what is no WebSocket frame, or a message of more than `most` bytes. Nothing can be read after that.
 */
export const messageReader = (most: number): ((chunk: Buffer) => E.Either<string, readonly Message[]>) => {
  let rest: Buffer = Buffer.alloc(0);
  let fragments: readonly Buffer[] = [];

  const messageOf = ({ opcode, isLast, payload }: Frame): E.Either<string, Message | undefined> => {
    if (opcode === CLOSE) return E.right({ type: "close" });
    if (opcode === PING) return E.right({ type: "ping", payload });
    if (opcode === PONG) return E.right(undefined);
    fragments = [...fragments, payload];
    if (fragments.reduce((sum, { length }) => sum + length, 0) > most)
      return E.left(`a WebSocket message of more than ${most} bytes`);
    if (!isLast) return E.right(undefined);
    const message = Buffer.concat(fragments);
    fragments = [];
    return E.right({ type: "binary", payload: message });
  };

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const frame = frameAt(rest, most);
      if (E.isLeft(frame)) return frame;
      if (frame.right === undefined) return E.right(messages);
      rest = rest.subarray(frame.right.size);
      const message = messageOf(frame.right);
      if (E.isLeft(message)) return message;
      if (message.right !== undefined) messages.push(message.right);
    }
  };
};
