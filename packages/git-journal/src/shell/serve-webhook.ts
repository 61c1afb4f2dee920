/**
 * Serves the webhook while this process leads: its certificate, its server, and the configuration that has the API server call it.
 *
 * The leader calls `serveWebhook` with its own `api`, and `select` with the resources that are selected, whenever they may have changed.
 *
 * It needs, in its own namespace: secrets create, and get and patch of `janus-git-journal-tls`. In the cluster: get and patch of the
 * validatingwebhookconfigurations `janus-git-journal`. On its port it is called by the API server only.
 */
import { timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Api, type Clock, type Resource, systemClock } from "@janus/kube";
import { type Log, newWorkQueue, wall, type Watchdog, withHeartbeat } from "@janus/runtime/parts";
import { equal, type Instant, isAbsent, messageOf, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { WEBHOOK_CONFIGURATION } from "../api/names.ts";
import {
  ALL_RULES,
  calledHost,
  configurationPatch,
  rulesFor,
  trustedBundle,
  type WatchedResource,
  webhookPath,
} from "../core/webhook-rules.ts";
import { type CertificateFiles, watchPair } from "./certificate-files.ts";
import type { EntryFeed } from "./entry-feed.ts";
import { type Held, keptSecret, newestOf, renewed, type Trusted } from "./certificates.ts";
import type { Pair } from "./read-certificates.ts";
import { startWebhook, type Webhook } from "./webhook.ts";

export const webhookConfigurations: Resource = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
  namespaced: false,
  statusSubresource: false,
};

/** The pause between two rounds, in ms: others may have changed the Secret or the configuration. */
const EVERY = 60_000;
const BACKOFF = { first: 1000, cap: 30_000 };

export interface ServedWebhook {
  /** Takes the resources that are written somewhere. */
  readonly select: (resources: readonly WatchedResource[]) => void;
  readonly stop: () => Promise<void>;
}

export interface ServeWebhookOptions {
  readonly api: Api;
  /** The namespace of the controller. */
  readonly namespace: string;
  readonly port: number;
  /** `Selected`: the webhook is called for selected resources. `All`: for each write of the cluster. */
  readonly rules: "Selected" | "All";
  /** The files of the certificate. Absent: it makes a certificate and a CA of its own. */
  readonly files?: CertificateFiles;
  readonly record: (request: JsonObject) => void;
  /** Tells other replicas what is recorded. Absent: no other replica writes. */
  readonly feed?: Pick<EntryFeed, "add" | "stop">;
  readonly log: Log;
  readonly watchdog: Watchdog;
  /** The name of the ValidatingWebhookConfiguration. Default: {@link WEBHOOK_CONFIGURATION}. */
  readonly configuration?: string;
  readonly clock?: Clock;
  /** The clock of the certificates. */
  readonly now?: () => Instant;
}

/**
 * Guarantees: the configuration never names a CA or path that the Secret has not; each round repairs what an earlier one left behind,
 *             wherever that was interrupted.
 */
export const serveWebhook = ({
  api: own,
  namespace,
  port,
  rules,
  files,
  record,
  feed,
  log,
  watchdog,
  configuration = WEBHOOK_CONFIGURATION,
  clock = systemClock,
  now = wall,
}: ServeWebhookOptions): ServedWebhook => {
  const loop = watchdog.loop("webhook");
  const api = withHeartbeat(own, () => loop.heartbeat());
  let wanted = rules === "All" ? ALL_RULES : undefined;
  let path: string | undefined;
  let token = "";
  let trusted: Trusted | undefined;
  let webhook: Webhook | undefined;
  /** The pair that is served, and the last one of the files. */
  let pair: Pair | undefined;
  let offered: Pair | undefined;
  let told: string | undefined;

  const tellOnce = (problem: string | undefined): void => {
    if (problem !== undefined && problem !== told) log("warn", `changes may have no authors: ${problem}`);
    if (problem === undefined && told !== undefined) log("info", "the webhook is configured: changes have authors");
    told = problem;
  };

  const isCalledAt = (at: string): boolean => path !== undefined && at === webhookPath(path);

  const isToken = (text: string): boolean =>
    token !== "" && text.length === token.length && timingSafeEqual(Buffer.from(text), Buffer.from(token));

  const isFollowed = (authorization: string, response: ServerResponse): boolean => {
    if (feed === undefined || !isToken(authorization.replace(/^Bearer /u, ""))) return false;
    feed.add(response);
    return true;
  };

  const serve = async (next: Pair): Promise<void> => {
    if (pair?.certificate === next.certificate && pair.key === next.key) return;
    webhook ??= await startWebhook({ port, pair: next, isCalledAt, isFollowed, record, log });
    webhook.use(next);
    pair = next;
  };

  /** The newest CA counts as trusted since the configuration was first seen to have it. */
  const trust = (held: Held, live: KubeObject): void => {
    const newest = newestOf(held)?.pem;
    const isTrusted = newest !== undefined && trustedBundle(live).includes(newest.trim());
    if (!isTrusted) trusted = undefined;
    else if (trusted?.authority !== newest) trusted = { authority: newest, since: now() };
  };

  /** Brings Secret, server and configuration together once. Returns what keeps the webhook from being called. */
  const round = async (): Promise<string | undefined> => {
    if (offered !== undefined) await serve(offered);
    const at = { resource: webhookConfigurations, name: configuration, purpose: "webhook" };
    const found = await api.send({ verb: "get", ...at });
    if (E.isLeft(found))
      return isAbsent(found.left)
        ? `there is no ValidatingWebhookConfiguration ${configuration}: the chart and the manifests have it`
        : messageOf(found.left);
    const host = calledHost(found.right);
    if (host === undefined) return `ValidatingWebhookConfiguration ${configuration} has no webhook of the Git journal`;
    const kept = await keptSecret(api, namespace, (held) =>
      files === undefined ? renewed(held, [host], trusted, now()) : Promise.resolve(held),
    );
    if (E.isLeft(kept)) return messageOf(kept.left);
    const held = kept.right;
    ({ path, token } = held);
    if (files === undefined) await serve(held.serving);
    if (wanted === undefined) return undefined;
    const patch = configurationPatch(found.right, {
      rules: wanted,
      trusted: files === undefined ? held.authorities : undefined,
      path: webhookPath(path),
    });
    const live = patch === undefined ? found : await api.send({ verb: "strategicMergePatch", ...at, body: patch });
    if (E.isLeft(live)) return messageOf(live.left);
    if (files === undefined) trust(held, live.right);
    return undefined;
  };

  const queue = newWorkQueue({
    concurrency: 1,
    backoff: BACKOFF,
    clock,
    work: async () => {
      loop.heartbeat();
      const problem = await round().catch(String);
      tellOnce(problem);
      loop.heartbeat(EVERY);
      return problem === undefined ? { type: "after", ms: EVERY } : { type: "failed" };
    },
  });
  const again = (): void => queue.add(configuration);

  const endFiles =
    files === undefined
      ? undefined
      : watchPair(
          files,
          (next) => {
            offered = next;
            again();
          },
          (why) => log("error", `the certificate of the webhook is not renewed: ${why}`),
          clock,
        );

  again();
  return {
    select: (resources) => {
      const narrowed = rulesFor(resources);
      if (rules === "All" || (wanted !== undefined && equal(narrowed, wanted))) return;
      wanted = narrowed;
      again();
    },
    stop: async () => {
      endFiles?.();
      await queue.drain();
      loop.rest();
      feed?.stop();
      await webhook?.stop();
    },
  };
};
