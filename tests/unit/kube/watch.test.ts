import {
  type ApiError,
  connect,
  type ConnectOptions,
  eventOf,
  type KubeObject,
  type Watch,
  type WatchEvent,
} from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectionTo, httpServer } from "./loopback.ts";

const request: Watch = { verb: "watch", resource: configMaps, resourceVersion: "1", timeoutSeconds: 60 };
const object = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, resourceVersion: "2" },
});
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

const watch = (url: string, options: ConnectOptions = {}, signal = new AbortController().signal) => {
  const api = connect(connectionTo(url), options);
  onTestFinished(() => api.close());
  return api.watch(request, signal);
};

const all = async (events: AsyncIterable<E.Either<ApiError, WatchEvent>>) => {
  const got: E.Either<ApiError, WatchEvent>[] = [];
  for await (const event of events) got.push(event);
  return got;
};

describe("a watch", () => {
  it("ends where an event has no end", async () => {
    const { url } = await httpServer((_, reply) => {
      const write = (): void => {
        while (!reply.destroyed && reply.write("x".repeat(65_536)));
      };
      reply.on("drain", write);
      write();
    });
    expect(await all(watch(url))).toEqual([
      E.left({ type: "unanswered", cause: "connection", message: expect.stringContaining("larger than 16777216") }),
    ]);
  });

  it("yields every event, however the bytes are cut", async () => {
    const objects = ["a", "ä€😀", "c"].map(object);
    const bytes = Buffer.from(objects.map((one) => line("MODIFIED", one)).join(""));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 6 }),
        async (cuts) => {
          const ends = [...cuts.toSorted((a, b) => a - b), bytes.length];
          const { url } = await httpServer((_, reply) => {
            const write = (at: number): void => {
              const [from = 0, to] = [ends[at - 1], ends[at]];
              if (to === undefined) reply.end();
              else reply.write(bytes.subarray(from, to), () => setImmediate(write, at + 1));
            };
            write(0);
          });
          expect(await all(watch(url))).toEqual(objects.map((one) => E.right({ type: "MODIFIED", object: one })));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("ends after an error of the server", async () => {
    const expired = { kind: "Status", status: "Failure", code: 410, reason: "Expired", message: "too old" };
    const { url } = await httpServer((_, reply) =>
      reply.end(line("ADDED", object("a")) + line("ERROR", expired) + line("ADDED", object("b"))),
    );
    expect(await all(watch(url))).toEqual([
      E.right({ type: "ADDED", object: object("a") }),
      E.left({ type: "refused", code: 410, reason: "Expired", message: "too old", causes: [] }),
    ]);
  });

  it("yields the refusal when it does not begin", async () => {
    const { url } = await httpServer((_, reply) =>
      reply.writeHead(403).end('{"kind":"Status","code":403,"reason":"Forbidden"}'),
    );
    expect(await all(watch(url))).toMatchObject([E.left({ type: "refused", code: 403, reason: "Forbidden" })]);
  });

  it("says that the connection broke", async () => {
    const { url, sockets } = await httpServer((_, reply) => {
      reply.write(line("ADDED", object("a")));
      setTimeout(() => sockets[0]?.resetAndDestroy(), 20);
    });
    expect(await all(watch(url))).toMatchObject([E.right({}), E.left({ type: "unanswered", cause: "connection" })]);
  });

  it("does not wait for a server that does not begin to answer", async () => {
    const { url } = await httpServer(() => {});
    expect(await all(watch(url, { deadline: 50 }))).toMatchObject([E.left({ type: "unanswered", cause: "deadline" })]);
  });

  it("notices that a server fell silent, a deadline after the watch should have ended", async () => {
    const { url } = await httpServer((_, reply) => reply.write(line("ADDED", object("a"))));
    const api = connect(connectionTo(url), { deadline: 50 });
    onTestFinished(() => api.close());
    const began = performance.now();
    const events = await all(api.watch({ ...request, timeoutSeconds: 1 }, new AbortController().signal));
    expect(events).toMatchObject([E.right({}), E.left({ type: "unanswered", cause: "deadline" })]);
    expect(performance.now() - began).toBeGreaterThan(1000);
  });

  it("ends without an error when it is no longer wanted, and closes its connection", async () => {
    const { url, sockets } = await httpServer((_, reply) => reply.write(line("ADDED", object("a"))));
    const wanted = new AbortController();
    const got: unknown[] = [];
    for await (const event of watch(url, {}, wanted.signal)) {
      got.push(event);
      wanted.abort();
    }
    expect(got).toHaveLength(1);
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it("ends with its reader", async () => {
    const { url, sockets } = await httpServer((_, reply) => reply.write(line("ADDED", object("a"))));
    for await (const event of watch(url)) if (E.isRight(event)) break;
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it("is aborted when the client is closed", async () => {
    const { url } = await httpServer((_, reply) => reply.write(line("ADDED", object("a"))));
    const api = connect(connectionTo(url));
    const got: unknown[] = [];
    for await (const event of api.watch(request, new AbortController().signal)) {
      got.push(event);
      if (got.length === 1) void api.close();
    }
    expect(got[1]).toMatchObject(E.left({ type: "unanswered", cause: "aborted" }));
  });

  it.each([
    "",
    "{",
    "[]",
    '{"type":"ADDED"}',
    '{"type":"BOOKMARK","object":{}}',
    '{"type":"ADDED","object":{"kind":"ConfigMap"}}',
    line("NEW", object("a")),
  ])("does not take this for an event: %j", (text) => {
    expect(eventOf(text)).toMatchObject(E.left({ type: "unanswered", cause: "malformed" }));
  });
});
