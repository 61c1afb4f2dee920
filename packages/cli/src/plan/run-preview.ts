// Runs the preflight of the core for a Transaction that is not in the cluster.
import type { Transaction } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import {
  contentsRead,
  type Effect,
  formatRef,
  type Happened,
  lookUp,
  type Memory,
  namespaces,
  nobodyElse,
  noObservations,
  observe,
  type Preview,
  preview,
  sendRequest,
  type Settings,
} from "@janus/controller";
import type { Api, KubeObject } from "@janus/kube";
import type { Controller } from "@janus/runtime";
import { reconcileKeys } from "@janus/runtime/parts";
import { isAbsent, messageOf } from "@janus/types";
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

interface Tried extends Memory {
  /** How often it was tried, this time included. */
  readonly tries: number;
}

type Seen = Extract<Preview, { readonly type: "previewed" }>;

/** The controller of Transactions, up to the first change: it hands over what it has seen by then. */
const previewer = (
  start: Memory,
  onSeen: (seen: Seen, memory: Memory) => void,
): Controller<Tried, Effect, Happened> => ({
  remember: () => ({ ...start, tries: 1 }),
  // Nobody else writes what is not in the cluster.
  refresh: (memory) => memory,
  decide: (memory, { now }) => {
    const next = preview({ ...memory, ...nobodyElse, now, settings: SETTINGS });
    if (next.type === "requests") return { type: "run", effects: next.effects };
    onSeen(next, memory);
    return { type: "done" };
  },
  observe: (before, happened) => {
    const { tries } = before;
    const { memory, ...rest } = observe(before, happened, SETTINGS);
    if (happened.type === "pausing") return { memory: { ...memory, tries: tries + 1 }, ...rest };
    const { failed } = rest;
    const isItsChanges =
      happened.type === "answered" && happened.effect.dryRun === true && tries >= MOST_TRIES && failed !== undefined;
    if (!isItsChanges || failed.type !== "refused" || failed.code === 403 || isPassing(failed))
      return { memory: { ...memory, tries }, ...rest };
    const answer = E.left({ ...failed, code: 422, message: messageOf(failed) });
    const told = observe(before, { ...happened, answer }, SETTINGS);
    return { ...told, memory: { ...told.memory, tries } };
  },
});

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
  const known = { ...noObservations(Date.now()), contents: contentsRead(aside.contents) };
  const key = `${namespace}/${txn.metadata.name}`;
  const object: KubeObject = { apiVersion: "", kind: "Transaction", metadata: { uid: key } };
  let previewed: Previewed | undefined;
  let hasServiceAccount = true;
  let unanswered: readonly string[] = [];

  const loop = reconcileKeys(
    previewer({ txn, known }, (seen, memory) => {
      previewed = { ...seen, txn, concealed };
      hasServiceAccount = memory.known.serviceAccount !== "missing";
    }),
    {
      kind: "Transaction",
      read: () => Promise.resolve(E.right(object)),
      mayExist: () => false,
      mayBeDeleted: () => false,
      wake: () => {},
      perform: async (_, __, effect): Promise<Happened> => {
        if ("call" in effect) {
          const sent = Date.now();
          const answer = await sendRequest(api, txn, effect, {});
          return { type: "answered", effect, answer, sent, at: Date.now() };
        }
        const looked = await lookUp(api, discovery, txn, effect);
        return E.isRight(looked)
          ? { type: "found", ...looked.right, at: Date.now() }
          : { type: "lookup-failed", effect, error: looked.left, at: Date.now() };
      },
      onFailures: (_, __, failures) => {
        unanswered = failures.map(({ effect, error }) => `cannot ${nameOf(effect)}: ${told(error)}`);
        const isDenied = failures.some(({ error }) => error.type === "refused" && error.code === 403);
        return isDenied ? Promise.reject(new Failure(unanswered.join("\n"))) : Promise.resolve(0);
      },
    },
  );

  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    if (tries > 1) await pause();
    await loop.reconcile(key, { log: () => {}, heartbeat: () => {} });
    if (previewed !== undefined) break;
  }
  if (previewed === undefined) throw new Failure(unanswered.join("\n"));
  return !hasServiceAccount && (await isMissing(api, namespace))
    ? { ...previewed, general: [`there is no namespace ${namespace}: create it, or name another one: -n`] }
    : previewed;
};
