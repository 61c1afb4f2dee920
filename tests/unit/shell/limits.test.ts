import { connect, type Request, type Watch } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import {
  CONNECTIONS,
  DRAFT_WATCHES,
  DRAFTS_IN_FLIGHT,
  IN_FLIGHT,
  TARGET_WATCHES,
} from "../../../packages/controller/src/shell/limits.ts";
import { configMaps } from "../../../packages/controller/src/core/index.ts";
import { connectionTo, httpServer } from "../kube/loopback.ts";

const count = <A>(length: number, one: () => A): readonly A[] => Array.from({ length }, one);

it("there is a connection for every request that may be in flight, even while every watch is open", async () => {
  const watches = TARGET_WATCHES.watches + DRAFT_WATCHES.watches + 1;
  const requests = IN_FLIGHT + DRAFTS_IN_FLIGHT;
  let open = 0;
  const waiting: (() => void)[] = [];
  const { url } = await httpServer(({ url: path = "" }, reply) => {
    if (path.includes("watch")) {
      open += 1;
      reply.writeHead(200).flushHeaders();
    } else waiting.push(() => reply.end("{}"));
    if (waiting.length === requests) for (const answer of waiting) answer();
  });
  const client = connect(connectionTo(url), { connections: CONNECTIONS.requests, deadline: 5_000 });
  onTestFinished(() => client.close());
  const request: Watch = { verb: "watch", resource: configMaps, resourceVersion: "1", timeoutSeconds: 60 };
  for (const watch of count(watches, () => client.watch(request, new AbortController().signal)))
    void watch[Symbol.asyncIterator]().next();
  await expect.poll(() => open).toBe(watches);
  const version: Request = { verb: "raw", path: "/version" };
  expect(await Promise.all(count(requests, () => client.send(version)))).toEqual(count(requests, () => E.right({})));
});
