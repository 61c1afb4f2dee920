/**
 * Serves the webhook while this process leads: its certificate, its server, and the configuration that has the API server call it.
 *
 * The leader calls `serveWebhook` with its own `api`, and `select` with the resources that are selected, whenever they may have changed.
 *
 * It needs, in its own namespace: secrets create, and get and patch of `janus-git-journal-tls`. In the cluster: get and patch of the
 * validatingwebhookconfigurations `janus-git-journal`. On its port it is called by the API server only.
 */
import { type Api, type Clock, delayAfter, type Resource, systemClock } from "@janus/kube";
import { type Log, wall, type Watchdog } from "@janus/runtime/parts";
import {
  type ApiError,
  equal,
  type Instant,
  isAbsent,
  messageOf,
  type JsonObject,
  type KubeObject,
} from "@janus/types";
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

/** What others may have changed is looked at so often, in ms. */
const EVERY = 60_000;
const BACKOFF = { first: 1000, cap: 30_000 };

export interface ServedWebhook {
  /** These resources are written somewhere. */
  readonly select: (resources: readonly WatchedResource[]) => void;
  readonly stop: () => Promise<void>;
}

export interface ServeWebhookOptions {
  readonly api: Api;
  /** Of the controller. */
  readonly namespace: string;
  readonly port: number;
  /** Selected: it is called for what is selected. All: for each write of the cluster. */
  readonly rules: "Selected" | "All";
  /** Absent: its own certificate, of a CA of its own. */
  readonly files?: CertificateFiles;
  readonly record: (request: JsonObject) => void;
  readonly log: Log;
  readonly watchdog: Watchdog;
  /** Default: {@link WEBHOOK_CONFIGURATION}. */
  readonly configuration?: string;
  readonly clock?: Clock;
  /** Of the certificates. */
  readonly now?: () => Instant;
}

/**
 * Guarantees: the configuration never names a CA or path that the Secret has not; each round repairs what an earlier one left behind,
 *             wherever that was interrupted.
 */
export const serveWebhook = ({
  api,
  namespace,
  port,
  rules,
  files,
  record,
  log,
  watchdog,
  configuration = WEBHOOK_CONFIGURATION,
  clock = systemClock,
  now = wall,
}: ServeWebhookOptions): ServedWebhook => {
  const loop = watchdog.loop("webhook");
  let wanted = rules === "All" ? ALL_RULES : undefined;
  let path: string | undefined;
  let trusted: Trusted | undefined;
  let serving: Promise<Webhook> | undefined;
  /** What is served, and what the files say. */
  let pair: Pair | undefined;
  let offered: Pair | undefined;
  let told: string | undefined;
  let failures = 0;
  let isOver = false;
  let isRunning = false;
  let isAsked = false;
  let cancel: (() => void) | undefined;

  const tellOnce = (problem: string | undefined): void => {
    if (problem !== undefined && problem !== told) log("warn", `changes may have no authors: ${problem}`);
    if (problem === undefined && told !== undefined) log("info", "the webhook is called again");
    told = problem;
  };

  const serve = async (next: Pair): Promise<void> => {
    if (isOver || (pair?.certificate === next.certificate && pair.key === next.key)) return;
    serving ??= startWebhook({
      port,
      pair: next,
      isCalledAt: (at) => path !== undefined && at === webhookPath(path),
      record,
      log,
    });
    const webhook = await serving.catch((error: unknown) => {
      serving = undefined;
      throw error;
    });
    webhook.use(next);
    pair = next;
  };

  const endFiles =
    files === undefined
      ? undefined
      : watchPair(
          files,
          (next) => {
            offered = next;
            void run();
          },
          (why) => log("error", `the certificate of the webhook is not renewed: ${why}`),
          clock,
        );

  const configured = (): Promise<E.Either<ApiError, KubeObject>> =>
    api.send({ verb: "get", resource: webhookConfigurations, name: configuration, purpose: "webhook" });

  /** The newest CA counts as trusted since the configuration was first seen to have it. */
  const trust = (held: Held, live: KubeObject): void => {
    const newest = newestOf(held)?.pem;
    const isTrusted = newest !== undefined && trustedBundle(live).includes(newest.trim());
    if (!isTrusted) trusted = undefined;
    else if (trusted?.authority !== newest) trusted = { authority: newest, since: now() };
  };

  /** @returns what keeps the webhook from being called */
  const round = async (): Promise<string | undefined> => {
    if (offered !== undefined) await serve(offered);
    const found = await configured();
    if (E.isLeft(found))
      return isAbsent(found.left)
        ? `there is no ValidatingWebhookConfiguration ${configuration}: install it with the chart`
        : messageOf(found.left);
    const host = calledHost(found.right);
    if (host === undefined) return `ValidatingWebhookConfiguration ${configuration} has no webhook of the Git journal`;
    const kept = await keptSecret(api, namespace, (held) =>
      files === undefined ? renewed(held, [host], trusted, now()) : Promise.resolve(held),
    );
    if (E.isLeft(kept)) return messageOf(kept.left);
    const held = kept.right;
    path = held.path;
    if (files === undefined) await serve(held.serving);
    if (wanted === undefined) return undefined;
    const patch = configurationPatch(found.right, {
      rules: wanted,
      trusted: files === undefined ? held.authorities : undefined,
      path: webhookPath(path),
    });
    const at = { resource: webhookConfigurations, name: configuration, purpose: "webhook" };
    const live = patch === undefined ? found : await api.send({ verb: "strategicMergePatch", ...at, body: patch });
    if (E.isLeft(live)) return messageOf(live.left);
    if (files === undefined) trust(held, live.right);
    return undefined;
  };

  const run = async (): Promise<void> => {
    if (isOver) return;
    if (isRunning) {
      isAsked = true;
      return;
    }
    cancel?.();
    isRunning = true;
    isAsked = false;
    loop.heartbeat();
    const problem = await round().catch((error: unknown) => String(error));
    isRunning = false;
    if (isOver) return;
    tellOnce(problem);
    failures = problem === undefined ? 0 : failures + 1;
    if (isAsked) return run();
    const pause = failures === 0 ? EVERY : delayAfter(failures, BACKOFF, Math.random());
    loop.heartbeat(pause);
    cancel = clock.after(pause, () => void run());
  };

  void run();
  return {
    select: (resources) => {
      const narrowed = rulesFor(resources);
      if (rules === "All" || (wanted !== undefined && equal(narrowed, wanted))) return;
      wanted = narrowed;
      void run();
    },
    stop: async () => {
      isOver = true;
      cancel?.();
      endFiles?.();
      loop.rest();
      await (await serving?.catch(() => undefined))?.stop();
    },
  };
};
