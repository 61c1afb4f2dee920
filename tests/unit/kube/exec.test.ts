// What a command is said to have done, by what comes over its WebSocket.
import { Duplex } from "node:stream";
import type { ApiError, ExecEvent } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { execEvents } from "../../../packages/kube/src/http/exec.ts";
import { frameOf, type Message, messageReader } from "../../../packages/kube/src/http/web-socket-frames.ts";
import { manualClock, settled } from "./manual-clock.ts";

/** A socket, and the one at its other end. */
const socketPair = () => {
  const sent: Message[] = [];
  const read = messageReader(2 ** 20);
  const near = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _, done) => {
      const messages = read(chunk);
      if (E.isRight(messages)) sent.push(...messages.right);
      done();
    },
  });
  near.on("error", () => {});
  return { near, sent, send: (bytes: Buffer | null) => near.push(bytes) };
};

const message = (channel: number, text: string): Buffer =>
  frameOf("binary", Buffer.concat([Buffer.of(channel), Buffer.from(text)]));

const status = (fields: object): Buffer => message(3, JSON.stringify({ metadata: {}, ...fields }));

type Event = E.Either<ApiError, ExecEvent>;

const collect = async (events: AsyncIterable<Event>): Promise<readonly Event[]> => {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
};

const all = async (bytes: readonly (Buffer | null)[], stdin?: Uint8Array) => {
  const { near, sent, send } = socketPair();
  for (const one of bytes) send(one);
  const events = await collect(execEvents(near, stdin));
  return { events, sent, near };
};

const unanswered = (cause: string, text: string) =>
  E.left({ type: "unanswered", cause, message: expect.stringContaining(text) });
const exited = (exitCode: number) => E.right({ type: "exited", exitCode });

describe("the end of a command", () => {
  it.each([
    ["success", { status: "Success" }, exited(0)],
    [
      "another exit code",
      {
        status: "Failure",
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: "126" }] },
      },
      exited(126),
    ],
    [
      "a failure that is no exit code",
      { status: "Failure", reason: "InternalError", message: "no such container", code: 500 },
      E.left(expect.objectContaining({ type: "refused", code: 500, message: "no such container" })),
    ],
    [
      "a failure without the exit code that it speaks of",
      { status: "Failure", reason: "NonZeroExitCode", message: "exit status", details: { causes: [{ message: "3" }] } },
      E.left(expect.objectContaining({ type: "refused", message: "exit status" })),
    ],
    ["what is no Status", { exitCode: 0 }, unanswered("malformed", "no Status")],
  ])("is %s", async (_, fields, end) => {
    const { events, near } = await all([message(1, ""), message(1, "out"), message(2, "err"), status(fields)]);
    expect(events).toEqual([
      E.right({ type: "stdout", bytes: Buffer.from("out") }),
      E.right({ type: "stderr", bytes: Buffer.from("err") }),
      end,
    ]);
    expect(near.destroyed).toBe(true);
  });

  it.each([
    ["the connection's", [null], unanswered("connection", "ended before the command did")],
    ["the WebSocket's", [frameOf("close", Buffer.alloc(0)), null], unanswered("connection", "ended before")],
    ["half a message", [status({ status: "Success" }).subarray(0, 20), null], unanswered("connection", "ended before")],
    ["what is no WebSocket", [Buffer.from("Server Error")], unanswered("malformed", "no WebSocket")],
  ])("is not %s", async (_, bytes, end) => {
    expect((await all(bytes)).events).toEqual([end]);
  });
});

it("what has come is told, whatever happens to the connection after that", async () => {
  const { near, send } = socketPair();
  const events = execEvents(near, undefined);
  send(message(1, "a"));
  await events.next();
  for (const one of [message(1, "b"), message(1, "c"), status({ status: "Success" })]) send(one);
  await settled();
  near.destroy(new Error("write EPIPE"));
  await settled();
  expect(await collect(events)).toEqual([
    ...["b", "c"].map((text) => E.right({ type: "stdout", bytes: Buffer.from(text) })),
    exited(0),
  ]);
});

it("stdin is sent whole, and then its end", async () => {
  const stdin = Buffer.alloc(100_000, "stdin ");
  const { near, sent, send } = socketPair();
  const events = collect(execEvents(near, stdin));
  await expect.poll(() => sent.at(-1)).toEqual({ type: "binary", payload: Buffer.of(255, 0) });
  send(status({ status: "Success" }));
  expect(await events).toEqual([exited(0)]);
  const payloads = sent.slice(0, -1).map((one) => (one.type === "binary" ? one.payload : Buffer.alloc(0)));
  expect(new Set(payloads.map(([channel]) => channel))).toEqual(new Set([0]));
  expect(Buffer.concat(payloads.map((payload) => payload.subarray(1)))).toEqual(stdin);
});

describe("a connection", () => {
  it("is kept alive by pings, and given up when nothing has come for a minute", async () => {
    const clock = manualClock();
    const { near, sent, send } = socketPair();
    const events = collect(execEvents(near, undefined, clock));
    for (let minutes = 0; minutes < 5; minutes += 1) {
      await clock.pass(50_000);
      send(frameOf("pong", Buffer.alloc(0)));
      await clock.pass(0);
    }
    expect(near.destroyed).toBe(false);
    expect(sent.every(({ type }) => type === "ping")).toBe(true);
    expect(sent.length).toBeGreaterThan(20);
    await clock.pass(70_000);
    expect(await events).toEqual([unanswered("connection", "i/o timeout")]);
    expect(clock.planned()).toBe(0);
  });

  it("is not given up, nor written to, while the caller does not read", async () => {
    const clock = manualClock();
    const { near, sent, send } = socketPair();
    const events = execEvents(near, undefined, clock);
    send(message(1, "first"));
    await events.next();
    for (let n = 0; n < 20; n += 1) {
      send(message(1, `${n}`));
      await settled();
    }
    await clock.pass(600_000);
    expect(sent).toEqual([]);
    send(status({ status: "Success" }));
    expect(await collect(events)).toHaveLength(21);
    expect(near.destroyed).toBe(true);
  });

  it("is answered when it asks whether we are there", async () => {
    const { sent } = await all([frameOf("ping", Buffer.from("x")), status({ status: "Success" })]);
    expect(sent).toEqual([]); // a pong, which messageReader leaves out
  });
});
