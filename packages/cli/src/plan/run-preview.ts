import type { Transaction } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import {
  type Effect,
  handleAnswer,
  isAbsent,
  lookUp,
  messageOf,
  namespaces,
  noObservations,
  type Observations,
  type Preview,
  preview,
  contentsRead,
  type ReconcileContext,
  sendRequest,
  type Settings,
} from "@janus/controller";
import type { Api, ApiError } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { asStored } from "../manifests/as-stored.ts";
import { contentsAside } from "../manifests/contents-aside.ts";

/** What was previewed, of which Transaction. */
export interface Previewed extends Extract<Preview, { readonly type: "previewed" }> {
  readonly txn: Transaction;
}

/** Nothing is locked or written, so none of these matters. */
const SETTINGS: Settings = { controllerNamespace: "", writeTimeout: 0, margin: 0, recoveryDelay: 0 };

/** A request that got no conclusive answer is sent again so many times. */
const MOST_TRIES = 5;
const PAUSE = 500;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** False, too, where the user may not know. */
const isMissing = async (api: Api, namespace: string): Promise<boolean> => {
  const answer = await api.send({ verb: "get", resource: namespaces, name: namespace });
  return E.isLeft(answer) && isAbsent(answer.left);
};

/**
 * Previews a Transaction by dry runs as its ServiceAccount; see `preview` in the core.
 *
 * Errors: if the API server cannot be reached, or the user may not impersonate the ServiceAccount.
 */
export const runPreview = async (
  { api, discovery }: Cluster,
  manifest: TransactionManifest,
  namespace: string,
): Promise<Previewed> => {
  const aside = contentsAside(manifest, namespace);
  const txn = asStored(aside.manifest, namespace);
  let known: Observations = { ...noObservations(Date.now()), contents: contentsRead(aside.contents) };
  let failures = 0;

  const failed = (error: ApiError, what: string): void => {
    failures += 1;
    if (failures >= MOST_TRIES) throw new Failure(`${what}: ${messageOf(error)}`);
  };

  const runEffect = async (effect: Effect): Promise<void> => {
    if (!("call" in effect)) {
      const looked = await lookUp(api, discovery, txn, effect);
      if (E.isLeft(looked)) failed(looked.left, `cannot ${effect.purpose.replaceAll("-", " ")}`);
      else known = looked.right(known, Date.now());
      return;
    }
    const sent = Date.now();
    const answer = await sendRequest(api, txn, effect, {});
    const handled = handleAnswer(known, effect, answer, Date.now(), sent);
    known = handled.known;
    if (handled.failed !== undefined) failed(handled.failed, `cannot ${effect.purpose.replaceAll("-", " ")}`);
  };

  for (;;) {
    const context: ReconcileContext = {
      txn,
      known,
      now: Date.now(),
      settings: SETTINGS,
      queuedBefore: () => undefined,
      nextWaiter: () => undefined,
    };
    const next = preview(context);
    if (next.type === "previewed")
      return known.serviceAccount === "missing" && (await isMissing(api, namespace))
        ? { ...next, txn, general: [`there is no namespace ${namespace}: create it, or name another one: -n`] }
        : { ...next, txn };
    const before = failures;
    await Promise.all(next.effects.map(runEffect));
    if (failures > before) await pause(PAUSE);
  }
};
