// Logs and commands of Pods through the real API server, to a node that runs them.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { promisify } from "node:util";
import {
  type ApiError,
  type Client,
  connect,
  type ConnectOptions,
  type ExecEvent,
  type ExecRequest,
  loadConfig,
} from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { controlPlane, kubectl } from "../fixtures/cluster.ts";
import { role } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { type RunningNode, startNode } from "../fixtures/node/start-node.ts";
import { recording } from "../fixtures/recording.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { client, right, sharedClient } from "./client.ts";

const api = sharedClient();
let namespace = "";
let node: RunningNode;

const run = async (name: string, command: readonly string[], labels: object = {}): Promise<void> => {
  const containers = [{ name: "main", image: "busybox", command }];
  const metadata = { name, namespace, labels };
  await administrator.create({ apiVersion: "v1", kind: "Pod", metadata, spec: { restartPolicy: "Never", containers } });
};
const sh = (name: string, script: string): Promise<void> => run(name, ["sh", "-c", script]);
const started = async (name: string): Promise<void> => {
  await kubectl("wait", "--for=jsonpath={.status.phase}=Running", "-n", namespace, `pod/${name}`);
};

beforeAll(async () => {
  namespace = await freshNamespace();
  node = await startNode(api, { namespace });
  await sh("runs", "echo up; exec sleep 1000");
  await started("runs");
});
afterAll(() => node.stop());

const never = new AbortController().signal;

/** What has come, as text, and the error. */
const readLog = async (log: AsyncIterable<E.Either<ApiError, Buffer>>) => {
  const chunks: Buffer[] = [];
  for await (const chunk of log) {
    if (E.isLeft(chunk)) return { text: Buffer.concat(chunks).toString("utf8"), error: chunk.left };
    chunks.push(chunk.right);
  }
  return { text: Buffer.concat(chunks).toString("utf8") };
};

interface Told {
  readonly stdout: string;
  readonly stderr: string;
  readonly end: E.Either<ApiError, number> | undefined;
}

const told = async (events: AsyncIterable<E.Either<ApiError, ExecEvent>>): Promise<Told> => {
  const bytes: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  let end: Told["end"];
  for await (const event of events)
    if (E.isLeft(event)) end = event;
    else if (event.right.type === "exited") end = E.right(event.right.exitCode);
    else bytes[event.right.type].push(event.right.bytes);
  const text = (stream: "stdout" | "stderr"): string => Buffer.concat(bytes[stream]).toString("utf8");
  return { stdout: text("stdout"), stderr: text("stderr"), end };
};

const exec = (script: string, more: Partial<ExecRequest> = {}, by: Client = api): Promise<Told> =>
  told(by.exec({ namespace, name: "runs", container: "main", command: ["sh", "-c", script], ...more }, never));

/** A client whose connections can be cut. */
const cuttable = async () => {
  const config = right(loadConfig({}, controlPlane.kubeconfig));
  const way = await tunnel({ port: Number(new URL(controlPlane.url).port) });
  const through = connect({ ...config, server: `https://127.0.0.1:${way.port}` });
  onTestFinished(() => through.close());
  return { through, cut: way.cut };
};

/** A client behind a proxy that counts its connections. */
const proxied = async (options: ConnectOptions = {}) => {
  const proxy = createServer().on("connect", ({ url = "" }, near: Socket) => {
    const far = connectTcp(Number(new URL(`http://${url}`).port), "127.0.0.1");
    near.write("HTTP/1.1 200 OK\r\n\r\n");
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as { readonly port: number };
  const config = right(loadConfig({}, controlPlane.kubeconfig));
  const through = connect({ ...config, proxy: `http://127.0.0.1:${port}` }, options);
  onTestFinished(async () => {
    await through.close();
    proxy.close();
  });
  return { through, connections: () => promisify(proxy.getConnections.bind(proxy))() };
};

const refusal = (code: number, message: string) =>
  expect.objectContaining({ type: "refused", code, message: expect.stringContaining(message) });
const lost = (cause: string) => expect.objectContaining({ type: "unanswered", cause });

describe("a log that is followed", () => {
  it("ends with its container", async () => {
    await sh("talks", "echo one; while [ ! -e go ]; do sleep 0.05; done; printf two");
    await started("talks");
    const chunks: string[] = [];
    for await (const chunk of api.log({ namespace, name: "talks", follow: true }, never)) {
      if (chunks.length === 0) await exec("touch go", { name: "talks" });
      chunks.push(right(chunk).toString("utf8"));
    }
    expect(chunks).toEqual(["one\n", "two"]);
  });

  it("may begin with a silence that is longer than any deadline", async () => {
    await sh("silent", "while [ ! -e go ]; do sleep 0.05; done; echo at last");
    await started("silent");
    const log = readLog(api.log({ namespace, name: "silent", container: "main", follow: true, deadline: 200 }, never));
    await exec("sleep 0.5; touch go", { name: "silent" });
    expect(await log).toEqual({ text: "at last\n" });
  });

  it("ends when the caller wants no more, whether there is something to read or not", async () => {
    const ending = new AbortController();
    const texts: string[] = [];
    for await (const chunk of api.log({ namespace, name: "runs", follow: true }, ending.signal)) {
      texts.push(right(chunk).toString("utf8"));
      setTimeout(() => ending.abort(), 100);
    }
    expect(texts).toEqual(["up\n"]);
    await sh("mute", "exec sleep 1000");
    await started("mute");
    const log = api.log({ namespace, name: "mute", follow: true }, AbortSignal.timeout(100));
    expect(await readLog(log)).toEqual({ text: "" });
  });

  it("ends with an error when the connection is cut", async () => {
    const { through, cut } = await cuttable();
    const seen: string[] = [];
    for await (const chunk of through.log({ namespace, name: "runs", follow: true }, never)) {
      seen.push(E.isRight(chunk) ? chunk.right.toString("utf8") : chunk.left.type);
      cut();
    }
    expect(seen).toEqual(["up\n", "unanswered"]);
  });

  it("ends with an error when the client is closed", async () => {
    const closed = client();
    const reading = readLog(closed.log({ namespace, name: "mute", follow: true }, never));
    setTimeout(() => void closed.close(), 100);
    expect(await reading).toEqual({ text: "", error: lost("aborted") });
  });
});

describe("a log", () => {
  it("is read in part", async () => {
    await sh("counts", "for n in 1 2 3 4; do echo line $n; done");
    await kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "-n", namespace, "pod/counts");
    const log = (options: object) => readLog(api.log({ namespace, name: "counts", ...options }, never));
    expect(await log({})).toEqual({ text: "line 1\nline 2\nline 3\nline 4\n" });
    expect(await log({ tailLines: 2, limitBytes: 8 })).toEqual({ text: "line 3\nl" });
    expect(await log({ sinceTime: "2999-01-01T00:00:00Z" })).toEqual({ text: "" });
    expect(await log({ timestamps: true, tailLines: 1 })).toEqual({
      text: expect.stringMatching(/^\d{4}-\S+Z line 4\n$/u),
    });
  });

  it("of a Pod that does not exist is a 404 about this Pod", async () => {
    const { error } = await readLog(api.log({ namespace, name: "nobody" }, never));
    expect(error).toEqual(refusal(404, 'pods "nobody" not found'));
    expect(error).toMatchObject({ notFound: "object" });
  });

  it("of a container that has not started is refused", async () => {
    const containers = [{ name: "main", image: "missing.example.com/app" }];
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "pulls", namespace } };
    await administrator.create({ ...pod, spec: { containers } });
    const log = async () => (await readLog(api.log({ namespace, name: "pulls" }, never))).error;
    await expect.poll(log).toEqual(refusal(400, "is waiting to start: ImagePullBackOff"));
  });

  it("is refused to who may not read it", async () => {
    const log = api.log({ namespace, name: "runs", as: { user: "nobody" } }, never);
    expect(await readLog(log)).toEqual({
      text: "",
      error: refusal(403, 'User "nobody" cannot get resource "pods/log"'),
    });
  });

  it("is not asked for with a name that would be another path", async () => {
    const log = api.log({ namespace, name: "runs/log?x=" }, never);
    expect(await readLog(log)).toEqual({ text: "", error: refusal(400, "cannot be part of a path") });
  });
});

describe("a command", () => {
  it("ends with its exit code, and what it wrote to stdout and stderr, apart", async () => {
    expect(await exec("echo out; echo err >&2")).toEqual({ stdout: "out\n", stderr: "err\n", end: E.right(0) });
    expect(await exec("exit 3")).toEqual({ stdout: "", stderr: "", end: E.right(3) });
  });

  it("is the words of the request, and no shell's", async () => {
    const command = ["printf", "%s|", "a b", "$HOME", "", "ä&c=+%"];
    expect((await exec("", { command })).stdout).toBe("a b|$HOME||ä&c=+%|");
  });

  it("reads all of stdin, and its end", async () => {
    const text = "0123456789".repeat(30_000);
    const stdin = Buffer.from(text);
    expect(await exec("cat; echo end", { stdin })).toEqual({ stdout: `${text}end\n`, stderr: "", end: E.right(0) });
    expect(await exec("wc -c", { stdin: Buffer.alloc(0) })).toMatchObject({ stdout: "0\n", end: E.right(0) });
  });

  it("may end before it has read all of stdin", async () => {
    expect(await exec("exit 4", { stdin: Buffer.alloc(1_000_000) })).toMatchObject({ end: E.right(4) });
  });

  it("may write more than any buffer holds, in order, to a caller who takes its time", async () => {
    const lines = Array.from({ length: 300_000 }, (_, n) => `${n + 1}`).join("\n");
    let text = "";
    for await (const event of api.exec({ namespace, name: "runs", command: ["seq", "300000"] }, never)) {
      const one = right(event);
      if (one.type === "stdout") text += one.bytes.toString("utf8");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(text).toBe(`${lines}\n`);
  });

  it("is reached through the proxy of the kubeconfig, too", async () => {
    const { through } = await proxied();
    const ended = await exec("cat; exit 5", { stdin: Buffer.from("in") }, through);
    expect(ended).toEqual({ stdout: "in", stderr: "", end: E.right(5) });
    expect(await readLog(through.log({ namespace, name: "runs" }, never))).toEqual({ text: "up\n" });
  });

  it("has no exit code when the connection is cut, and goes on", async () => {
    const { through, cut } = await cuttable();
    const events: string[] = [];
    const command = ["sh", "-c", "echo begun; sleep 0.5; echo over > over; exit 0"];
    for await (const event of through.exec({ namespace, name: "runs", command }, never)) {
      events.push(E.isRight(event) ? event.right.type : event.left.type);
      cut();
    }
    expect(events).toEqual(["stdout", "unanswered"]);
    await expect.poll(async () => (await exec("cat over")).stdout).toBe("over\n");
  });

  it("has no exit code when its node is lost", async () => {
    const home = await freshNamespace();
    const other = await startNode(api, { namespace: home });
    const spec = { containers: [{ name: "main", image: "busybox" }] };
    await administrator.create({ apiVersion: "v1", kind: "Pod", metadata: { name: "lost", namespace: home }, spec });
    await kubectl("wait", "--for=jsonpath={.status.phase}=Running", "-n", home, "pod/lost");
    const events: string[] = [];
    let stopped: Promise<void> | undefined;
    const command = ["sh", "-c", "echo begun; sleep 1000"];
    for await (const event of api.exec({ namespace: home, name: "lost", command }, never)) {
      events.push(E.isRight(event) ? event.right.type : event.left.type);
      stopped ??= other.stop();
    }
    await stopped;
    expect(events).toEqual(["stdout", "unanswered"]);
  });

  it("is not waited for when the caller wants no more", async () => {
    const ending = new AbortController();
    const events: ExecEvent[] = [];
    const command = ["sh", "-c", "echo out; exec sleep 1000"];
    for await (const event of api.exec({ namespace, name: "runs", command }, ending.signal)) {
      events.push(right(event));
      setTimeout(() => ending.abort(), 50);
    }
    expect(events).toEqual([{ type: "stdout", bytes: Buffer.from("out\n") }]);
  });

  it("has no exit code when the client is closed", async () => {
    const closed = client();
    const running = exec("sleep 1000", {}, closed);
    setTimeout(() => void closed.close(), 200);
    expect(await running).toMatchObject({ end: E.left(lost("aborted")) });
  });

  it("that does not exist is an error, and no exit code", async () => {
    expect(await exec("", { command: ["no-such-program"] })).toMatchObject({ end: E.left(refusal(500, "ENOENT")) });
  });

  it("in a Pod that does not exist is a 404 about this Pod", async () => {
    expect(await exec("true", { name: "nobody" })).toMatchObject({
      end: E.left(refusal(404, 'pods "nobody" not found')),
    });
  });

  it("is refused to who may not execute any, and runs for who may", async () => {
    const as = { user: `${namespace}:user` };
    expect(await exec("true", { as })).toMatchObject({ end: E.left(refusal(403, 'cannot get resource "pods/exec"')) });
    const manifest = role("exec", { apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"] });
    await administrator.create({ ...manifest, metadata: { name: "exec", namespace } });
    await kubectl("create", "rolebinding", "exec", "-n", namespace, "--role=exec", `--user=${as.user}`);
    await expect.poll(() => exec("echo yes", { as })).toEqual({ stdout: "yes\n", stderr: "", end: E.right(0) });
  });
});

describe("a connection", () => {
  it("is closed when the caller has read enough", async () => {
    const { through, connections } = await proxied();
    const command = ["sh", "-c", "while echo more; do sleep 0.05; done"];
    for await (const event of through.exec({ namespace, name: "runs", command }, never)) if (E.isRight(event)) break;
    for await (const chunk of through.log({ namespace, name: "runs", follow: true }, never))
      if (E.isRight(chunk)) break;
    await expect.poll(connections).toBe(0);
  });

  it("is closed when a hook has lost the answer", async () => {
    const error: ApiError = { type: "unanswered", cause: "connection", message: "lost" };
    const { through, connections } = await proxied({
      hooks: [(request, next) => next(request).then(() => E.left(error))],
    });
    expect(await exec("sleep 1000", {}, through)).toMatchObject({ end: E.left(error) });
    expect(await readLog(through.log({ namespace, name: "runs", follow: true }, never))).toMatchObject({ error });
    await expect.poll(connections).toBe(0);
  });
});

describe("a hook", () => {
  it("sees a log and a command once each, as what the API server is asked for", async () => {
    const { hook, requests } = recording();
    const hooked = client({ hooks: [hook] });
    await readLog(hooked.log({ namespace, name: "runs", purpose: "reading" }, never));
    await exec("echo out", { purpose: "doing" }, hooked);
    const pod = { namespace, name: "runs", resource: { plural: "pods" } };
    expect(requests).toMatchObject([
      { verb: "get", ...pod, subresource: "log", purpose: "reading" },
      {
        verb: "create",
        ...pod,
        subresource: "exec",
        purpose: "doing",
        body: { kind: "PodExecOptions", container: "main", command: ["sh", "-c", "echo out"] },
      },
    ]);
    expect(requests).toHaveLength(2);
  });

  it("may refuse them, or lose the answer, and change who asks", async () => {
    const error: ApiError = { type: "unanswered", cause: "connection", message: "lost" };
    const never = client({ hooks: [() => Promise.resolve(E.left(error))] });
    const late = client({ hooks: [(request, next) => next(request).then(() => E.left(error))] });
    for (const by of [never, late])
      expect(await exec("true", {}, by)).toMatchObject({ stdout: "", end: E.left(error) });
    const other = client({ hooks: [(request, next) => next({ ...request, as: { user: "nobody" } })] });
    expect(await exec("true", {}, other)).toMatchObject({ end: E.left(refusal(403, 'User "nobody"')) });
  });
});
