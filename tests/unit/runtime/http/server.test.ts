import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { type Answers, serve } from "../../../../packages/runtime/src/http/server.ts";
import { HTTP } from "../../../../packages/controller/src/shell/limits.ts";

const served = async (answers: Partial<Answers> = {}) => {
  const server = await serve(
    0,
    {
      stuck: () => [],
      unready: () => undefined,
      metrics: () => Promise.resolve("metrics\n"),
      status: () => ({}),
      leaderElsewhere: () => undefined,
      retryAfter: 1,
      instead: "create Transactions with the API server",
      ...answers,
    },
    HTTP,
  );
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const one of sockets) one.destroy();
    server.close();
  });
  const open = async (): Promise<Socket> => {
    const one = connect({ port, host: "127.0.0.1" });
    sockets.push(one.on("error", () => {}));
    await once(one, "connect");
    return one;
  };
  const health = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
  const count = (): Promise<number> =>
    new Promise((resolve, reject) =>
      server.getConnections((error, number) => (error === null ? resolve(number) : reject(error))),
    );
  return { open, health, count, sockets };
};

/** A request without its end. */
const HALF = `GET /metrics HTTP/1.1\r\nx: ${"y".repeat(HTTP.headerBytes - 100)}\r\n`;
const asking = (path: string, header = ""): string => `GET ${path} HTTP/1.1\r\nhost: janus\r\n${header}\r\n`;

it("keeps few connections of those who send half a request, closes them, and answers the kubelet all the time", async () => {
  const { open, health, count, sockets } = await served();
  const answers: number[] = [];
  for (let at = 1; at <= 3 * HTTP.connections; at += 1) {
    (await open()).write(HALF);
    if (at % HTTP.connections === 0) answers.push(await health());
  }
  expect(answers).toEqual([200, 200, 200]);
  expect(await count()).toBeLessThanOrEqual(HTTP.connections);
  await expect.poll(() => count()).toBe(0);
  expect(sockets).toHaveLength(3 * HTTP.connections);
});

it("answers one request of a connection, whatever else was sent", async () => {
  let rendered = 0;
  const { open } = await served({
    metrics: () => {
      rendered += 1;
      return Promise.resolve("metrics\n");
    },
  });
  const one = await open();
  one.write(asking("/metrics"));
  expect(await text(one)).toMatch(/connection: close/i);
  const many = await open();
  many.write(asking("/metrics").repeat(40));
  await once(many.resume(), "close");
  expect(rendered).toBeLessThanOrEqual(2);
});

it("accepts a long token, and refuses a longer header", async () => {
  const seen: (string | undefined)[] = [];
  const { open } = await served({
    maySeeMetrics: (authorization) => {
      seen.push(authorization);
      return Promise.resolve("allowed");
    },
  });
  const answerTo = async (length: number): Promise<string> => {
    const one = await open();
    one.write(asking("/metrics", `authorization: Bearer ${"t".repeat(length)}\r\n`));
    return text(one);
  };
  expect(await answerTo(HTTP.headerBytes / 2)).toContain("200 OK");
  expect(await answerTo(2 * HTTP.headerBytes)).toContain("431");
  expect(seen).toHaveLength(1);
});
