/**
 * Follows the replica that serves the webhook: remembers the requests that it has seen.
 *
 * Guarantees: it goes on until it is stopped, whoever leads meanwhile; requests that are told while it is not connected are lost.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, delayAfter, systemClock } from "@janus/kube";
import type { Log } from "@janus/runtime/parts";
import { isAbsent, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { WEBHOOK_CONFIGURATION } from "../api/names.ts";
import type { KeyedEntry } from "../core/correlation.ts";
import { entryIn } from "../core/entry-line.ts";
import { calledAt, trustedBundle } from "../core/webhook-rules.ts";
import { tokenIn } from "./certificates.ts";
import { ENTRIES_PATH, ENTRIES_TYPE, PULSE } from "./entry-feed.ts";
import { webhookConfigurations } from "./serve-webhook.ts";

export interface FollowOptions {
  readonly api: Api;
  /** The namespace of the controller. */
  readonly namespace: string;
  readonly onEntry: (keyed: KeyedEntry) => void;
  readonly log: Log;
  /** The name of the ValidatingWebhookConfiguration. Default: {@link WEBHOOK_CONFIGURATION}. */
  readonly configuration?: string;
}

export interface Following {
  readonly stop: () => Promise<void>;
}

/** The pauses between tries, in ms. */
const BACKOFF = { first: 500, cap: 10_000 };
const SILENCE = 3 * PULSE;
/** The most characters of a line: names of objects and users are shorter. */
const LONGEST = 16_384;

const ignore = (): void => {};

export const followEntries = ({
  api,
  namespace,
  onEntry,
  log,
  configuration = WEBHOOK_CONFIGURATION,
}: FollowOptions): Following => {
  const stopping = new AbortController();
  const { signal } = stopping;

  const read = async (response: IncomingMessage): Promise<string> => {
    if (response.statusCode !== 200 || response.headers["content-type"] !== ENTRIES_TYPE) {
      response.destroy();
      return `the leader has answered ${response.statusCode}`;
    }
    let rest = "";
    response.setEncoding("utf8");
    for await (const chunk of response as AsyncIterable<string>) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > LONGEST) return "the leader has sent a line without end";
      for (const line of lines) {
        const keyed = entryIn(line, systemClock.now());
        if (keyed !== undefined) onEntry(keyed);
      }
    }
    return "the leader has ended its answer";
  };

  /** Follows one leader, until the connection ends. Returns why it has ended. */
  const follow = async (): Promise<{ readonly because: string; readonly isBegun: boolean }> => {
    const found = await api.send({
      verb: "get",
      resource: webhookConfigurations,
      name: configuration,
      purpose: "webhook",
    });
    if (E.isLeft(found))
      return {
        because: isAbsent(found.left)
          ? `there is no ValidatingWebhookConfiguration ${configuration}`
          : messageOf(found.left),
        isBegun: false,
      };
    const at = calledAt(found.right);
    const token = await tokenIn(api, namespace);
    if (E.isLeft(token)) return { because: messageOf(token.left), isBegun: false };
    if (at === undefined || token.right === "")
      return { because: "no leader has served the webhook yet", isBegun: false };
    const asked = request({
      ...at,
      path: ENTRIES_PATH,
      ca: trustedBundle(found.right),
      headers: { authorization: `Bearer ${token.right}` },
      agent: false,
      timeout: SILENCE,
      signal,
    });
    // An error before the response rejects `once`, and one after it ends the reading.
    asked.on("error", ignore);
    asked.once("timeout", () => asked.destroy(new Error("the leader is silent")));
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { because: await read(response).catch(String), isBegun: true };
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      const { because, isBegun } = await follow().catch((error: unknown) => ({
        because: String(error),
        isBegun: false,
      }));
      if (signal.aborted) return;
      failures = isBegun ? 1 : failures + 1;
      log(failures === 5 ? "warn" : "debug", "the leader does not say who has changed what; trying again", { because });
      await sleep(delayAfter(failures, BACKOFF, Math.random()), undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();

  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
