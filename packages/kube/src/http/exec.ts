// Talks with a command in a container over a WebSocket: channels of v4 and v5.channel.k8s.io.
import { randomBytes } from "node:crypto";
import { type Duplex, Readable } from "node:stream";
import * as E from "fp-ts/lib/Either.js";
import { type ApiError, asObject, parseJson } from "@janus/types";
import { type Clock, systemClock } from "../api/clock.ts";
import { reasonOf } from "../api/error-reason.ts";
import type { ExecEvent } from "../api/pod-streams.ts";
import { unanswered } from "./http-exchange.ts";
import { ofStatus } from "./http-response.ts";
import { frameOf, type Message, messageReader } from "./web-socket-frames.ts";

/** The end of stdin can be told in v5 only; without it a command that reads stdin would wait for ever. */
export const subprotocolsFor = (stdin: Uint8Array | undefined): readonly string[] =>
  stdin === undefined ? ["v5.channel.k8s.io", "v4.channel.k8s.io"] : ["v5.channel.k8s.io"];

/** The first byte of each message; of `close` the second one is the channel that ends. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;

const MOST_OF_A_MESSAGE = 16 * 2 ** 20;
const CHUNK = 32 * 2 ** 10;
/** Received and not read yet; each is 64 KiB at most. */
const MOST_CHUNKS = 16;

/** In ms: load balancers close what is silent, and a server that is gone does not say so. As kubectl does, but half as often. */
const PING_EVERY = 10_000;
const SILENT_FOR = 60_000;

const clientFrame = (type: "binary" | "ping" | "pong" | "close", payload: Buffer): Buffer =>
  frameOf(type, payload, randomBytes(4));

const framesOf = function* (stdin: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < stdin.length; at += CHUNK)
    yield clientFrame("binary", Buffer.concat([Buffer.of(CHANNEL.stdin), stdin.subarray(at, at + CHUNK)]));
  yield clientFrame("binary", Buffer.of(CHANNEL.close, CHANNEL.stdin));
};

/** The Status at the end of a command: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
const endOf = (text: string): E.Either<ApiError, ExecEvent> => {
  const status = asObject(parseJson(text));
  if (status["status"] === "Success") return E.right({ type: "exited", exitCode: 0 });
  if (status["status"] !== "Failure") return E.left(unanswered("malformed", "the end of a command is no Status"));
  const failure = ofStatus(status);
  const [exitCode] = failure.causes.flatMap(({ reason, message }) =>
    reason === "ExitCode" && /^\d+$/u.test(message ?? "") ? [Number(message)] : [],
  );
  return failure.reason === "NonZeroExitCode" && exitCode !== undefined
    ? E.right({ type: "exited", exitCode })
    : E.left(failure);
};

/** Empty messages say that the connection is there. */
const eventOf = (payload: Buffer): E.Either<ApiError, ExecEvent> | undefined => {
  const [channel] = payload;
  const bytes = payload.subarray(1);
  if (bytes.length === 0) return undefined;
  if (channel === CHANNEL.stdout) return E.right({ type: "stdout", bytes });
  if (channel === CHANNEL.stderr) return E.right({ type: "stderr", bytes });
  return channel === CHANNEL.status ? endOf(bytes.toString("utf8")) : undefined;
};

/** Pings until the socket is closed, and destroys it when nothing has come for long; not while the caller does not read. */
const keepAlive = (socket: Duplex, clock: Clock): void => {
  let heardAt = clock.now();
  const heard = (): void => {
    heardAt = clock.now();
  };
  const ping = (): void => {
    // A write that fails would lose what can still be read.
    if (socket.isPaused()) heard();
    else if (clock.now() - heardAt >= SILENT_FOR) socket.destroy(new Error("i/o timeout"));
    else socket.write(clientFrame("ping", Buffer.alloc(0)));
    cancel = clock.after(PING_EVERY, ping);
  };
  let cancel = clock.after(PING_EVERY, ping);
  socket.on("data", heard).once("close", () => cancel());
};

/**
 * All that comes before the connection ends, or before its error. (The iterator of a stream forgets at an error what was not read yet:
 * the end of a command that did not want all of stdin.)
 */
const received = async function* (socket: Duplex): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  let changed = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (chunks.length >= MOST_CHUNKS) socket.pause();
    changed.resolve();
  });
  for (const end of ["end", "close"]) socket.once(end, () => changed.resolve());
  for (;;) {
    const chunk = chunks.shift();
    if (chunk !== undefined) yield chunk;
    else if (socket.readableEnded || socket.destroyed) break;
    else {
      changed = Promise.withResolvers();
      socket.resume();
      await changed.promise;
    }
  }
  if (socket.errored !== null) throw socket.errored;
};

/** What a command writes, and its exit code; or one error in place of what does not come any more. Destroys the socket in the end. */
export const execEvents = async function* (
  socket: Duplex,
  stdin: Uint8Array | undefined,
  clock: Clock = systemClock,
): AsyncGenerator<E.Either<ApiError, ExecEvent>> {
  const read = messageReader(MOST_OF_A_MESSAGE);
  keepAlive(socket, clock);
  if (stdin !== undefined) Readable.from(framesOf(stdin)).pipe(socket, { end: false });
  try {
    for await (const chunk of received(socket)) {
      const messages = read(chunk);
      if (E.isLeft(messages)) {
        yield E.left(unanswered("malformed", messages.left));
        return;
      }
      for (const message of messages.right) {
        const event = answered(socket, message);
        if (event !== undefined) yield event;
        if (event !== undefined && (E.isLeft(event) || event.right.type === "exited")) return;
      }
    }
    yield E.left(unanswered("connection", "the connection ended before the command did"));
  } catch (error) {
    yield E.left(unanswered("connection", reasonOf(error)));
  } finally {
    socket.destroy();
  }
};

const answered = (socket: Duplex, message: Message): E.Either<ApiError, ExecEvent> | undefined => {
  if (message.type === "binary") return eventOf(message.payload);
  socket.write(message.type === "ping" ? clientFrame("pong", message.payload) : clientFrame("close", Buffer.alloc(0)));
  return undefined;
};
