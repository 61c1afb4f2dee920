// The server of the webhook: whatever it is sent, it allows; what it is told at its own path, it records; its certificate is renewed.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import path from "node:path";
import { type Api, type KubeObject, type Request, systemClock } from "@janus/kube";
import type { JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import type { KeyedEntry } from "../../packages/git-journal/src/core/correlation.ts";
import { type EntryFeed, entryFeed } from "../../packages/git-journal/src/shell/entry-feed.ts";
import { followEntries } from "../../packages/git-journal/src/shell/follow-entries.ts";
import { type Held, keptSecret } from "../../packages/git-journal/src/shell/certificates.ts";
import { readPair, watchPair } from "../../packages/git-journal/src/shell/certificate-files.ts";
import { makeAuthority, makeCertificate } from "../../packages/git-journal/src/shell/make-certificates.ts";
import {
  certificatesIn,
  hostsOf,
  isPair,
  issuerOf,
  type Pair,
} from "../../packages/git-journal/src/shell/read-certificates.ts";
import { startWebhook } from "../../packages/git-journal/src/shell/webhook.ts";
import { webhookAt } from "../fixtures/webhook-at.ts";
import { recording } from "../fixtures/recording.ts";
import { newDirectory } from "./world.ts";

const HOST = "127.0.0.1";
const PATH = "/process-validating-webhook/secret";
const quiet = (): void => undefined;

const made = async (): Promise<{ readonly authority: Pair; readonly pair: Pair }> => {
  const authority = await makeAuthority(Date.now());
  return { authority, pair: await makeCertificate(authority, [HOST], Date.now()) };
};

const started = async (record: (request: JsonObject) => void = quiet) => {
  const { authority, pair } = await made();
  const webhook = await startWebhook({ port: 0, pair, isCalledAt: (at) => at === PATH, record, log: quiet });
  onTestFinished(webhook.stop);
  const call = (
    body: string | Buffer,
    at = PATH,
  ): Promise<{ readonly code: number | undefined; readonly body: string }> =>
    new Promise((resolve, reject) => {
      const asked = httpsRequest(
        { host: HOST, port: webhook.port, path: at, method: "POST", ca: authority.certificate, agent: false },
        (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => (text += chunk.toString()));
          response.on("end", () => resolve({ code: response.statusCode, body: text }));
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  return { webhook, authority, call };
};

const review = (more: JsonObject = {}): string =>
  JSON.stringify({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { uid: "705ab4f5", operation: "CREATE", ...more },
  });

const allowed = (uid: string) => ({
  code: 200,
  body: JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, allowed: true },
  }),
});

describe("the server", () => {
  it("records a request before it allows it", async () => {
    const recorded: unknown[] = [];
    const { call } = await started((request) => void recorded.push(request["uid"]));
    expect(await call(review(), `${PATH}?timeout=2s`)).toEqual(allowed("705ab4f5"));
    expect(recorded).toEqual(["705ab4f5"]);
  });

  it.each<readonly [string, string | Buffer, string]>([
    ["nothing", "", ""],
    ["no JSON", "{", ""],
    ["no review", "[]", ""],
    ["bytes", Buffer.from([0xff, 0xfe, 0x00]), ""],
    ["what is nested deeper than any stack", `{"request":{"uid":"deep","object":${"[".repeat(1e6)}`, "deep"],
    ["more than it keeps", review({ padding: "x".repeat(9 * 2 ** 20) }), "705ab4f5"],
  ])("allows %s, and records nothing", async (_, body, uid) => {
    const recorded: unknown[] = [];
    const { call } = await started((request) => void recorded.push(request));
    expect(await call(body)).toEqual(allowed(uid));
    expect(recorded).toEqual([]);
  });

  it("allows what it cannot record", async () => {
    const { call } = await started(() => {
      throw new Error("broken");
    });
    expect(await call(review())).toEqual(allowed("705ab4f5"));
  });

  it.each(["/", "/process-validating-webhook", "/process-validating-webhook/other", `${PATH}/x`])(
    "records nothing of whoever calls %s: only the API server knows the path",
    async (at) => {
      const recorded: unknown[] = [];
      const { call } = await started((request) => void recorded.push(request));
      expect(await call(review(), at)).toEqual(allowed("705ab4f5"));
      expect(recorded).toEqual([]);
    },
  );

  it("keeps no more than its bound of all that is being sent, and still answers", async () => {
    const { call } = await started();
    const large = review({ padding: "x".repeat(7 * 2 ** 20) });
    // All of them within the time that a request may take; a busy machine may need another attempt.
    await expect
      .poll(() => Promise.all(Array.from({ length: 5 }, () => call(large))).catch(String))
      .toEqual(Array.from({ length: 5 }, () => allowed("705ab4f5")));
    expect(await call(review())).toEqual(allowed("705ab4f5"));
  });

  it("uses a new certificate for new connections, and goes on with those that there are", async () => {
    const { webhook, authority } = await started();
    const open = (ca: string): Promise<TLSSocket> =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: HOST, port: webhook.port, ca }, () => resolve(socket));
        socket.on("error", reject);
        onTestFinished(() => void socket.destroy());
      });
    const old = await open(authority.certificate);
    const next = await made();
    webhook.use(next.pair);
    const socket = await open(next.authority.certificate);
    expect(socket.authorized).toBe(true);
    await expect(open(authority.certificate)).rejects.toThrow(/certificate|issuer/u);
    const answered = new Promise((resolve) => old.once("data", (chunk: Buffer) => resolve(chunk.toString())));
    old.write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: ${review().length}\r\n\r\n${review()}`);
    expect(await answered).toMatch(/^HTTP\/1.1 200/u);
  });
});

const keyed = (user: string) => ({
  key: "core/v1/configmaps/shop/app:UPDATE:1",
  user,
  uid: "u",
  resourceVersion: "7",
});
const entry = (user: string): KeyedEntry => {
  const { key, ...rest } = keyed(user);
  return { key, entry: { ...rest, at: 0 } };
};

const leaderOf = async (feed: EntryFeed, token: string, port = 0) => {
  const { authority, pair } = await made();
  const isFollowed = (authorization: string, response: ServerResponse): boolean => {
    if (authorization !== `Bearer ${token}`) return false;
    feed.add(response);
    return true;
  };
  const webhook = await startWebhook({ port, pair, isCalledAt: () => false, isFollowed, record: quiet, log: quiet });
  return { authority, webhook };
};

/** Who is heard by a replica that knows this token, and trusts this CA. */
const follower = (place: { port: number; ca: string }, token: string) => {
  const heard: string[] = [];
  const send = (request: Request): ReturnType<Api["send"]> => {
    const { apiVersion, kind, metadata, webhooks } = webhookAt(place.port) as unknown as {
      readonly webhooks: readonly { readonly clientConfig: object }[];
    } & KubeObject;
    const caBundle = Buffer.from(place.ca).toString("base64");
    const isSecret = "resource" in request && request.resource.plural === "secrets";
    return Promise.resolve(
      E.right(
        isSecret
          ? { apiVersion: "v1", kind: "Secret", metadata: {}, data: { token: Buffer.from(token).toString("base64") } }
          : {
              apiVersion,
              kind,
              metadata,
              webhooks: webhooks.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle } })),
            },
      ),
    ) as ReturnType<Api["send"]>;
  };
  const onEntry = ({ entry: { user } }: KeyedEntry): void => void heard.push(user);
  const following = followEntries({ api: { send } as Api, namespace: "shop", onEntry, log: quiet });
  onTestFinished(following.stop);
  return heard;
};

const token = "0123456789abcdef";

describe("a replica that does not serve it", () => {
  it("is told of the requests that were seen, also by the next leader, and nobody else is", async () => {
    const feed = entryFeed();
    const first = await leaderOf(feed, token);
    const at = { port: first.webhook.port, ca: first.authority.certificate };
    const heard = follower(at, token);
    const others = [follower(at, "another"), follower({ ...at, ca: (await made()).authority.certificate }, token)];
    const telling = (one: EntryFeed, user: string) => () => {
      one.tell(entry(user));
      return heard.includes(user);
    };
    await expect.poll(telling(feed, "alice")).toBe(true);
    feed.stop();
    await first.webhook.stop();
    const next = entryFeed();
    const second = await leaderOf(next, token);
    onTestFinished(second.webhook.stop);
    onTestFinished(next.stop);
    Object.assign(at, { port: second.webhook.port, ca: second.authority.certificate });
    await expect.poll(telling(next, "bob")).toBe(true);
    expect(others).toEqual([[], []]);
  });

  it("is cut off where it does not read: what is held for it is bounded", async () => {
    const feed = entryFeed();
    const { authority, webhook } = await leaderOf(feed, token);
    onTestFinished(webhook.stop);
    onTestFinished(feed.stop);
    const asked = httpsRequest({
      host: HOST,
      port: webhook.port,
      path: "/requests",
      ca: authority.certificate,
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    });
    const answered = once(asked, "response");
    asked.end();
    const [response] = (await answered) as [IncomingMessage];
    const closed = once(response, "close").catch(quiet);
    response.pause();
    const large = entry("x".repeat(100_000));
    await expect
      .poll(() => {
        for (let n = 0; n < 100; n += 1) feed.tell(large);
        return feed.readers();
      })
      .toBe(0);
    response.resume();
    response.on("error", quiet);
    await closed;
  });
});

describe("what is made", () => {
  it("is a CA, and a certificate for exactly these hosts that it has signed, each with its key", async () => {
    const now = Date.now();
    const authority = await makeAuthority(now);
    const hosts = ["webhook.janus-system.svc", "127.0.0.1", "::1"];
    const pair = await makeCertificate(authority, hosts, now);
    const other = await makeAuthority(now);
    const authorities = certificatesIn(`${other.certificate}garbage\n${authority.certificate}`);
    expect(authorities).toHaveLength(2);
    expect(issuerOf(pair.certificate, authorities)?.pem).toBe(authority.certificate);
    expect(issuerOf(pair.certificate, certificatesIn(other.certificate))).toBeUndefined();
    expect(hostsOf(pair.certificate)).toEqual(hosts);
    expect([isPair(authority), isPair(pair)]).toEqual([true, true]);
    expect(isPair({ ...pair, key: authority.key })).toBe(false);
    expect(isPair({ certificate: "", key: "x" })).toBe(false);
  });
});

describe("the files of somebody else", () => {
  const FILES = { certificate: "tls.crt", key: "tls.key" };
  const write = async (directory: string, { certificate, key }: Pair): Promise<void> => {
    await writeFile(path.join(directory, FILES.certificate), certificate);
    await writeFile(path.join(directory, FILES.key), key);
  };

  it("are told of when they have changed, and not while they are half written", async () => {
    const files = { ...FILES, directory: newDirectory() };
    const [first, second] = [(await made()).pair, (await made()).pair];
    const told: string[] = [];
    const problems: string[] = [];
    let look = quiet;
    const clock = { ...systemClock, after: (_: number, run: () => void) => ((look = run), quiet) };
    const end = watchPair(
      files,
      ({ certificate }) => void told.push(certificate),
      (why) => void problems.push(why),
      clock,
    );
    onTestFinished(end);
    await expect.poll(() => problems.length).toBe(1);
    await write(files.directory, first);
    look();
    await expect.poll(() => told).toEqual([first.certificate]);
    await write(files.directory, { ...second, key: first.key });
    look();
    await expect.poll(() => problems.length).toBe(2);
    await write(files.directory, second);
    look();
    await expect.poll(() => told).toEqual([first.certificate, second.certificate]);
  });

  it("that are wrong are named, and nothing of what is in them", async () => {
    const files = { ...FILES, directory: newDirectory() };
    await write(files.directory, { certificate: "hunter2", key: "hunter2" });
    const answer = await readPair(files);
    expect(E.isLeft(answer) && answer.left).toMatch(/tls\.crt and .*tls\.key are no certificate with its key: /u);
    expect(JSON.stringify(answer)).not.toContain("hunter2");
  });
});

type Answer = Awaited<ReturnType<Api["send"]>>;

const refused = (code: number, reason: string): Answer =>
  E.left({
    type: "refused",
    code,
    reason,
    message: reason,
    causes: [],
    ...(code === 404 ? { notFound: "object" } : {}),
  });
const CONFLICT = refused(409, "Conflict");

const nothing = (): never => {
  throw new Error("nothing is watched");
};

/** Answers reads and writes so, and keeps the requests. */
const answering = (read: Answer, write: Answer) => {
  const { requests, hook } = recording();
  const send = (request: Request) => hook(request, ({ verb }) => Promise.resolve(verb === "get" ? read : write));
  return { requests, send, watch: nothing };
};
const changed = (held: Held): Promise<Held> => Promise.resolve({ ...held, authorities: "new" });

describe("the Secret", () => {
  it("that another leader has made meanwhile is not what this one goes on with", async () => {
    const api = answering(refused(404, "NotFound"), refused(409, "AlreadyExists"));
    expect(await keptSecret(api, "janus-system", changed)).toMatchObject({ left: { reason: "AlreadyExists" } });
    expect(api.requests.map(({ verb }) => verb)).toEqual(["get", "create"]);
  });

  it("is written on the version that was read, and only what has changed", async () => {
    const path = Buffer.from("0".repeat(32)).toString("base64");
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { resourceVersion: "7" }, data: { path } };
    const api = answering(E.right(secret), CONFLICT);
    expect(await keptSecret(api, "janus-system", changed)).toBe(CONFLICT);
    const data = { "ca.crt": Buffer.from("new").toString("base64") };
    expect(api.requests[1]).toMatchObject({ verb: "mergePatch", body: { metadata: { resourceVersion: "7" }, data } });
  });

  it("that cannot be read is not written", async () => {
    const api = answering(refused(403, "Forbidden"), CONFLICT);
    expect(await keptSecret(api, "janus-system", changed)).toMatchObject({ left: { reason: "Forbidden" } });
    expect(api.requests).toHaveLength(1);
  });
});
