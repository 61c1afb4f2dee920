import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect as netConnect } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { Worker } from "node:worker_threads";
import {
  type ApiError,
  type Connection,
  connect,
  type ConnectOptions,
  type Credentials,
  type Request,
} from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAuthority, issue } from "../../control-plane/certificates.ts";
import { connectionTo, httpServer, tcpServer } from "./loopback.ts";

const api = (connection: Connection, options: ConnectOptions = {}) => {
  const made = connect(connection, options);
  onTestFinished(() => made.close());
  return made;
};
const version: Request = { verb: "raw", path: "/version" };
const put: Request = {
  verb: "update",
  resource: configMaps,
  namespace: "ns",
  name: "a",
  body: { data: "x".repeat(2_000_000) },
};
const unanswered = (cause: string, message = "") =>
  E.left<ApiError>({ type: "unanswered", cause: cause as "deadline", message: expect.stringContaining(message) });
const large = { apiVersion: "v1", kind: "ConfigMap", metadata: {}, data: { a: "x".repeat(1_000_000) } };
const never = new Promise<never>(() => {});

/** A server in a thread of its own, which answers after so many ms whatever becomes of this one. */
const elsewhere = async (ms: number): Promise<string> => {
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
     const answer = (reply) => setTimeout(() => reply.end('{"kind":"Status","metadata":{}}'), ${ms});
     const server = require("node:http").createServer((_, reply) => answer(reply));
     server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  onTestFinished(async () => void (await worker.terminate()));
  const [port]: readonly unknown[] = await once(worker, "message");
  return `http://127.0.0.1:${String(port)}`;
};

describe("a client", () => {
  it.each([
    ["a read", version],
    ["a deletion, which has a body", { verb: "delete", resource: configMaps, namespace: "ns", name: "a" }],
  ] satisfies [string, Request][])("uses its connections again after %s", async (_, request) => {
    const object = { apiVersion: "v1", kind: "Status", metadata: {} };
    const { url, sockets } = await httpServer((_, reply) => reply.end(JSON.stringify(object)));
    const { send } = api(connectionTo(url));
    for (let at = 0; at < 20; at += 1) expect(await send(request)).toEqual(E.right(object));
    // undici looks at a connection for one turn of the event loop before it takes it again.
    expect(sockets.length).toBeLessThanOrEqual(2);
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect (%d), and takes it for no answer", async (status) => {
    const asked: (string | undefined)[] = [];
    const { url } = await httpServer(({ url }, reply) => {
      asked.push(url);
      reply.writeHead(url === "/version" ? status : 200, { location: "/elsewhere" });
      reply.end('{"from":"elsewhere"}');
    });
    expect(await api(connectionTo(url)).send(version)).toEqual(unanswered("malformed", `HTTP ${status}`));
    expect(asked).toEqual(["/version"]);
  });

  it("does not believe an answer that is about another object", async () => {
    const other = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "ns", name: "b" } };
    const { url } = await httpServer((_, reply) => reply.end(JSON.stringify(other)));
    expect(await api(connectionTo(url)).send(put)).toEqual(unanswered("malformed", "of ns/b"));
  });

  it("takes an answer that came in time, also when it was too busy to look in time", async () => {
    const { send } = api(connectionTo(await elsewhere(50)), { deadline: 300 });
    expect(E.isRight(await send(version))).toBe(true);
    const answer = send(version);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // From here on timers come before what is to be read.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    expect(await answer).toEqual(E.right({ kind: "Status", metadata: {} }));
  });

  it("asks below the path of the server's URL", async () => {
    const { url } = await httpServer(({ url }, reply) => reply.end(JSON.stringify({ url })));
    expect(await api(connectionTo(`${url}/k8s/clusters/c1/`)).send(version)).toEqual(
      E.right({ url: "/k8s/clusters/c1/version" }),
    );
  });

  it("passes every request through its hooks, the first one outermost", async () => {
    const { url } = await httpServer((_, reply) => reply.end('{"from":"server"}'));
    const log: string[] = [];
    const { send } = api(connectionTo(url), {
      hooks: ["a", "b"].map((name) => async (request, next) => {
        log.push(`${name} in`);
        const reply = await next(request);
        log.push(`${name} out`);
        return reply;
      }),
    });
    expect(await send(version)).toEqual(E.right({ from: "server" }));
    expect(log).toEqual(["a in", "b in", "b out", "a out"]);
  });

  it("sends nothing for a hook that answers itself", async () => {
    const { url, sockets } = await httpServer((_, reply) => reply.end("{}"));
    const lost = E.left<ApiError>({ type: "unanswered", cause: "connection", message: "cut by the test" });
    expect(await api(connectionTo(url), { hooks: [() => Promise.resolve(lost)] }).send(version)).toBe(lost);
    expect(sockets).toHaveLength(0);
  });

  it("takes fresh credentials for each request, and one run of a plugin for requests at the same time", async () => {
    const { url } = await httpServer(({ headers }, reply) => reply.end(JSON.stringify({ was: headers.authorization })));
    let runs = 0;
    const credentials = (): Promise<Credentials> => {
      runs += 1;
      return Promise.resolve({ headers: { authorization: `Bearer ${runs}` }, tls: {} });
    };
    const { send } = api({ ...connectionTo(url), credentials });
    expect(await send(version)).toEqual(E.right({ was: "Bearer 1" }));
    expect(await Promise.all([send(version), send(version)])).toEqual([
      E.right({ was: "Bearer 2" }),
      E.right({ was: "Bearer 2" }),
    ]);
  });

  it("makes new connections for new certificates, and lets what is under way on the old one end", async () => {
    const { ca, pair } = await certificates();
    const held: (() => void)[] = [];
    const { url, names } = await tlsServer(pair, (text, socket) => {
      const answer = () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      if (text.includes("/version")) held.push(answer);
      else answer();
    });
    let servername = "localhost";
    const { send } = api({
      ...connectionTo(url),
      credentials: () => Promise.resolve({ headers: {}, tls: { ca, servername } }),
    });
    const first = send(version);
    await expect.poll(() => held).toHaveLength(1);
    servername = "other.test";
    expect(await send({ verb: "raw", path: "/healthz" })).toEqual(E.right({}));
    expect(names).toEqual(["localhost", "other.test"]);
    for (const answer of held) answer();
    expect(await first).toEqual(E.right({}));
  });

  it("goes through the proxy of the kubeconfig, and tells it nothing but the address", async () => {
    const { ca, pair } = await certificates();
    const { url } = await tlsServer(pair, (_, socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
    );
    const seen: string[] = [];
    const proxy = await tcpServer((socket) =>
      socket.once("data", (data) => {
        seen.push(data.toString());
        const onward = netConnect(Number(new URL(url).port), "127.0.0.1");
        onTestFinished(() => void onward.destroy());
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      }),
    );
    const { send } = api({
      ...connectionTo(url, { headers: { authorization: "Bearer t" }, tls: { ca } }),
      proxy: proxy.url,
    });
    expect(await send(version)).toEqual(E.right({}));
    expect(seen).toEqual([expect.stringMatching(/^CONNECT 127\.0\.0\.1:\d+ HTTP/)]);
    expect(seen.join()).not.toContain("Bearer");
  });

  it("lets a request impersonate another user than its credentials do", async () => {
    const { url } = await httpServer(({ headers }, reply) =>
      reply.end(JSON.stringify({ user: headers["impersonate-user"] })),
    );
    const { send } = api(connectionTo(url, { headers: { "impersonate-user": "a" } }));
    expect(await send(version)).toEqual(E.right({ user: "a" }));
    expect(await send({ ...version, as: { user: "b" } })).toEqual(E.right({ user: "b" }));
  });

  it("sends every group in a header of its own", async () => {
    const { url } = await httpServer((message: IncomingMessage, reply) =>
      reply.end(JSON.stringify(message.headersDistinct)),
    );
    const reply = await api(connectionTo(url)).send({ ...version, as: { user: "u", groups: ["a", "b"] } });
    expect(reply).toMatchObject(E.right({ "impersonate-user": ["u"], "impersonate-group": ["a", "b"] }));
  });

  it("is refused by itself, not by the server, when a request would mean something else", async () => {
    const { url, sockets } = await httpServer((_, reply) => reply.end("{}"));
    const reply = await api(connectionTo(url)).send({
      verb: "delete",
      resource: configMaps,
      namespace: "ns",
      name: "",
    });
    expect(reply).toMatchObject(E.left({ type: "refused", code: 400, reason: "Unsendable" }));
    expect(sockets).toHaveLength(0);
  });
});

describe("a request that gets no answer", () => {
  it("ends at its deadline, and its connection with it", async () => {
    const { url, sockets } = await httpServer(() => {});
    const { send } = api(connectionTo(url));
    expect(await send({ ...version, deadline: 300 })).toEqual(unanswered("deadline", "no answer within"));
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it("ends at its deadline in the middle of the answer, too", async () => {
    const { url } = await httpServer((_, reply) => reply.write('{"half":'));
    expect(await api(connectionTo(url), { deadline: 300 }).send(version)).toEqual(unanswered("deadline"));
  });

  it("takes with it what the server has not read yet", async () => {
    const { ca, pair } = await certificates();
    const errors: string[] = [];
    let bytes = 0;
    const { url, pause, resume } = await tlsServer(
      pair,
      (text) => (bytes += text.length),
      (error) => errors.push(error),
    );
    const { send } = api(connectionTo(url, { tls: { ca } }));
    pause();
    expect(await send({ ...put, deadline: 1000 })).toEqual(unanswered("deadline"));
    resume();
    await expect.poll(() => errors).toEqual(["ECONNRESET"]);
    expect(bytes).toBeLessThan(2_000_000);
  });

  it("was never sent when nobody listens", async () => {
    const { url, sockets } = await httpServer(() => {});
    const port = Number(new URL(url).port) === 1 ? 2 : 1;
    expect(await api(connectionTo(`http://127.0.0.1:${port}`)).send(put)).toEqual(
      unanswered("never-sent", "connection refused"),
    );
    expect(sockets).toHaveLength(0);
  });

  it("was never sent when the server's name means nothing", async () => {
    expect(await api(connectionTo("https://nowhere.invalid")).send(put)).toEqual(
      unanswered("never-sent", "nowhere.invalid"),
    );
  });

  it("was never sent when the server's certificate cannot be trusted", async () => {
    const { pair } = await certificates();
    let bytes = 0;
    const { url } = await tlsServer(pair, (text) => (bytes += text.length));
    expect(await api(connectionTo(url)).send(put)).toEqual(unanswered("never-sent"));
    expect(bytes).toBe(0);
  });

  it("was never sent when the other side speaks no TLS", async () => {
    const { port } = await tcpServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    expect(await api(connectionTo(`https://127.0.0.1:${port}`)).send(put)).toEqual(unanswered("never-sent"));
  });

  it("was never sent when TLS does not come about in time", async () => {
    const { port } = await tcpServer(() => {});
    expect(await api(connectionTo(`https://127.0.0.1:${port}`)).send({ ...put, deadline: 50 })).toEqual(
      unanswered("never-sent"),
    );
  });

  it("was never sent, and never will be, when no connection became free", async () => {
    const paths: string[] = [];
    const { url } = await httpServer(({ url = "" }, reply) => {
      paths.push(url);
      setTimeout(() => reply.end("{}"), 200);
    });
    const { send } = api(connectionTo(url), { connections: 1 });
    const first = send(version);
    expect(await send({ verb: "raw", path: "/late", deadline: 50 })).toEqual(
      unanswered("never-sent", "no connection was free"),
    );
    expect(await first).toEqual(E.right({}));
    expect(await send({ verb: "raw", path: "/next" })).toEqual(E.right({}));
    expect(paths).toEqual(["/version", "/next"]);
  });

  it("was never sent without credentials", async () => {
    const { url, sockets } = await httpServer((_, reply) => reply.end("{}"));
    const failing = { ...connectionTo(url), credentials: () => Promise.reject(new Error("aws: command not found")) };
    expect(await api(failing).send(put)).toEqual(unanswered("never-sent", "aws: command not found"));
    const hanging = { ...connectionTo(url), credentials: () => never };
    expect(await api(hanging, { deadline: 50 }).send(put)).toEqual(unanswered("never-sent", "within 50 ms"));
    expect(sockets).toHaveLength(0);
  });

  it.each<[string, string]>([
    ["at once", ""],
    ["in the middle of the answer", 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"half":'],
  ])("may have happened when the connection breaks: %s", async (_, half) => {
    const { url } = await tcpServer((socket) => socket.once("data", () => socket.end(half)));
    expect(await api(connectionTo(url)).send(version)).toEqual(unanswered("connection"));
  });

  it("may have happened when the answer is no JSON", async () => {
    const { url } = await httpServer((_, reply) => reply.end("<html>welcome to our portal</html>"));
    expect(await api(connectionTo(url)).send(version)).toEqual(unanswered("malformed", "welcome to our portal"));
  });

  it("is given up when its answer is larger than may be taken into memory", async () => {
    let sent = 0;
    const { url } = await httpServer((_, reply) => {
      const write = (): void => {
        while (!reply.destroyed && reply.write("x".repeat(65_536))) sent += 65_536;
      };
      reply.on("drain", write);
      write();
    });
    expect(await api(connectionTo(url)).send(version)).toEqual(unanswered("too-large", "larger than 16777216 bytes"));
    expect(sent).toBeLessThan(32 * 2 ** 20);
    expect(await api(connectionTo(url)).send({ ...version, mostBytes: 1000 })).toEqual(unanswered("too-large"));
  });

  it("is answered, however many large answers come at once", async () => {
    const { url } = await httpServer((_, reply) => reply.end(JSON.stringify(large)));
    // What is tested is room, not time.
    const { send } = api(connectionTo(url), { deadline: 120_000 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(version)));
    expect(answers.filter(E.isLeft)).toEqual([]);
  });

  it("is answered, though others had to wait in the middle of their answers until it was complete", async () => {
    const text = JSON.stringify(large);
    const begun: ServerResponse[] = [];
    const { url } = await httpServer((_, reply) => {
      reply.writeHead(200, { "content-length": text.length }).write(text.slice(0, -1));
      // All of them together are too large to be taken at once.
      if (begun.push(reply) === 32) setTimeout(() => begun.forEach((one) => one.end(text.slice(-1))), 500);
    });
    const { send } = api(connectionTo(url), { deadline: 120_000 });
    const answers = await Promise.all(Array.from({ length: 32 }, () => send(version)));
    expect(answers.filter(E.isLeft)).toEqual([]);
  });

  it("comes although another one has stalled, and all together are too large to be taken at once", async () => {
    const text = JSON.stringify(large);
    const begun = Promise.withResolvers<ServerResponse>();
    const { url } = await httpServer((request, reply) => {
      if (request.url !== "/stalled") return void reply.end(text);
      reply.write(text.slice(0, 1), () => begun.resolve(reply));
    });
    const { send } = api(connectionTo(url), { deadline: 120_000 });
    const stalled = send({ verb: "raw", path: "/stalled" });
    const reply = await begun.promise;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const answers = await Promise.all(Array.from({ length: 32 }, () => send(version)));
    expect(answers.filter(E.isLeft)).toEqual([]);
    reply.end(text.slice(1));
    expect(E.isRight(await stalled)).toBe(true);
  });

  it("is read as it is, wherever the bytes of its characters are cut", async () => {
    const object = { kind: "Status", metadata: {}, message: "ä€😀" };
    const bytes = Buffer.from(JSON.stringify(object));
    const { url } = await httpServer((_, reply) => {
      // Each byte in a chunk of its own.
      for (const byte of bytes) reply.write(Buffer.of(byte));
      reply.end();
    });
    expect(await api(connectionTo(url)).send(version)).toEqual(E.right(object));
  });

  it("was aborted when the client is closed", async () => {
    const { url, sockets } = await httpServer(() => {});
    const { send, close } = api(connectionTo(url));
    const reply = send(version);
    await expect.poll(() => sockets).toHaveLength(1);
    await close();
    expect(await reply).toEqual(unanswered("aborted"));
    expect(await send(version)).toEqual(unanswered("aborted"));
  });
});

const certificates = async () => {
  const authority = await createAuthority();
  return {
    ca: authority.certificate,
    pair: await issue(authority, { name: "server", hosts: ["127.0.0.1", "localhost", "other.test"] }),
  };
};

/** Reads what comes in. While paused, it takes what fits into its buffers and looks at none of it. */
const tlsServer = async (
  pair: { readonly certificate: string; readonly key: string },
  onData: (text: string, socket: { readonly write: (text: string) => void }) => void,
  onError: (code: string) => void = () => {},
) => {
  let paused = false;
  const waiting = new Set<() => void>();
  const names: unknown[] = [];
  const server = createTlsServer({ cert: pair.certificate, key: pair.key }, (socket) => {
    names.push(socket.servername);
    const read = () => {
      socket.on("data", (data) => onData(data.toString(), socket));
      socket.resume();
    };
    socket.on("error", (error: NodeJS.ErrnoException) => onError(error.code ?? error.message));
    onTestFinished(() => void socket.destroy());
    if (paused) waiting.add(read);
    else read();
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `https://127.0.0.1:${port}`,
    /** That clients asked for, connection by connection. */
    names,
    pause: () => (paused = true),
    resume: () => waiting.forEach((read) => read()),
  };
};
