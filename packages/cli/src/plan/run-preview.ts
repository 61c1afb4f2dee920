// Runs the preflight of the core for a Transaction that is not in the cluster.
import type { Transaction } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import {
  type Effect,
  formatRef,
  lookUp,
  namespaces,
  noObservations,
  observe,
  type Observations,
  type Preview,
  preview,
  contentsRead,
  type ReconcileContext,
  sendRequest,
  type Settings,
} from "@janus/controller";
import { isAbsent, messageOf } from "@janus/types";
import type { Api, ApiError } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { isPassing, MOST_TRIES, pause, told } from "../cluster/conclusive.ts";
import { Failure } from "../failure.ts";
import { asStored } from "../manifests/as-stored.ts";
import { contentsAside } from "../manifests/contents-aside.ts";

/** The preview, and the Transaction that it is of. */
export interface Previewed extends Extract<Preview, { readonly type: "previewed" }> {
  readonly txn: Transaction;
  /** The changes whose contents are in a Secret: none of it is shown. Without those that are put into one only now. */
  readonly concealed: ReadonlySet<number>;
  /** Advice about its problems, beyond what each of them says. */
  readonly advice?: readonly string[];
}

/** Nothing is locked or written, so none of these matters. */
const SETTINGS: Settings = { controllerNamespace: "", writeTimeout: 0, margin: 0, recoveryDelay: 0 };

/** False, too, where the user may not know. */
const isMissing = async (api: Api, namespace: string): Promise<boolean> => {
  const answer = await api.send({ verb: "get", resource: namespaces, name: namespace });
  return E.isLeft(answer) && isAbsent(answer.left);
};

/** `read the target ConfigMap shop/app of change 2` */
const nameOf = (effect: Effect): string => {
  const what = effect.purpose === "dry-run" ? "make the dry run" : effect.purpose.replaceAll("-", " ");
  if (!("call" in effect) || effect.item === undefined) return what;
  return `${what} of change ${effect.item + 1}, ${formatRef(effect.call.place)}`;
};

/**
 * Previews a Transaction by dry runs as its ServiceAccount; see `preview` in the core. A dry run that the API server cannot
 * carry out, for example because a webhook does not answer, is a problem of its change.
 *
 * Errors: if the API server cannot be reached, or has no time, or the user may not impersonate the ServiceAccount.
 */
export const runPreview = async (
  { api, discovery }: Cluster,
  manifest: TransactionManifest,
  namespace: string,
): Promise<Previewed> => {
  const aside = contentsAside(manifest, namespace);
  const txn = asStored(aside.manifest, namespace);
  const concealed = new Set(
    manifest.spec.changes.flatMap(({ contentFrom }, index) => (contentFrom?.secretKeyRef === undefined ? [] : [index])),
  );
  let known: Observations = { ...noObservations(Date.now()), contents: contentsRead(aside.contents) };
  let failures = 0;

  /** @returns why it has to be sent again. */
  const runEffect = async (effect: Effect): Promise<string | undefined> => {
    const failed = (error: ApiError): string => `cannot ${nameOf(effect)}: ${told(error)}`;
    if (!("call" in effect)) {
      const looked = await lookUp(api, discovery, txn, effect);
      if (E.isLeft(looked)) return failed(looked.left);
      known = observe({ txn, known }, { type: "found", ...looked.right, at: Date.now() }, SETTINGS).memory.known;
      return undefined;
    }
    const sent = Date.now();
    const answer = await sendRequest(api, txn, effect, {});
    const { memory, failed: fault } = observe(
      { txn, known },
      { type: "answered", effect, answer, sent, at: Date.now() },
      SETTINGS,
    );
    known = memory.known;
    if (fault?.type !== "refused") return fault === undefined ? undefined : failed(fault);
    if (fault.code === 403) throw new Failure(failed(fault));
    if (effect.dryRun !== true || failures < MOST_TRIES - 1 || isPassing(fault)) return failed(fault);
    // It is a problem of its change.
    const final = E.left({ ...fault, code: 422, message: messageOf(fault) });
    known = observe({ txn, known }, { type: "answered", effect, answer: final, sent, at: Date.now() }, SETTINGS).memory
      .known;
    return undefined;
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
        ? {
            ...next,
            txn,
            concealed,
            general: [`there is no namespace ${namespace}: create it, or name another one: -n`],
          }
        : { ...next, txn, concealed };
    const again = (await Promise.all(next.effects.map(runEffect))).filter((why) => why !== undefined);
    if (again.length === 0) continue;
    failures += 1;
    if (failures >= MOST_TRIES) throw new Failure(again.join("\n"));
    await pause();
  }
};
