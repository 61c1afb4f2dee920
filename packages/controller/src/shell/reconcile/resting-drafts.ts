// Watches the targets of Drafts, and renders a Draft again when one changes.
import type { Metadata, Transaction } from "@janus/api";
import type { Api } from "@janus/kube";
import { throttle, objectWatches } from "@janus/runtime/parts";
import type { Watched } from "../../core/index.ts";
import { impersonation } from "./api-request.ts";
import { DRAFT_WATCHES } from "../limits.ts";
import { JOBS } from "./finishing-jobs.ts";
import { queueKey } from "./queue-key.ts";

/** A Draft is rendered again because of its targets at most once in this time, in ms. */
const MIN_INTERVAL = 10_000;

/** Targets that are watched for the Drafts of one namespace, and of all: each takes some memory. */
const MOST_TARGETS = { ofNamespace: 5_000, ofAll: 20_000 };

/** The part of a resting Draft that is remembered. */
interface Resting {
  readonly key: string;
  readonly namespace: string;
  readonly metadata: Pick<Metadata, "resourceVersion" | "deletionTimestamp" | "annotations">;
  readonly targets: number;
}

export interface RestingDrafts {
  /** It has been rendered, from these targets. */
  readonly rest: (txn: Transaction, watched: readonly Watched[]) => void;
  /** It no longer rests: it is executed, deleted, or another one has its name now (`uid`). */
  readonly leave: (key: string, uid?: string) => void;
  /** Its metadata as last read or written. */
  readonly lastKnown: (uid: string) => Resting["metadata"] | undefined;
  /** Whether one of its targets has changed since this was asked last: what is read from now on is newer. */
  readonly takeChanged: (uid: string) => boolean;
  readonly stop: () => void;
}

/**
 * The Drafts that wait for an edit, an approval, or a change of their targets.
 *
 * Guarantees: one that rests costs a few hundred bytes and no requests; when a target changes that its ServiceAccount may
 *             watch, it is woken, at most once in ten seconds. Those for which there is no room are not woken: they are
 *             rendered again when they are proposed, and when they are executed.
 */
export const restingDrafts = (apiOf: (namespace: string) => Api, wake: (key: string) => void): RestingDrafts => {
  const resting = new Map<string, Resting>();
  const byKey = new Map<string, string>();
  const changed = new Set<string>();
  const refresh = throttle(MIN_INTERVAL, (uid) => {
    const one = resting.get(uid);
    if (one === undefined) return;
    changed.add(uid);
    wake(one.key);
  });
  const watches = objectWatches(apiOf, refresh, DRAFT_WATCHES, JOBS);

  /** How many targets are watched, by namespace. */
  const counts = new Map<string, number>();
  const count = (namespace: string, more: number): void => {
    const targets = (counts.get(namespace) ?? 0) + more;
    if (targets === 0) counts.delete(namespace);
    else counts.set(namespace, targets);
  };
  const forget = (uid: string): void => {
    const one = resting.get(uid);
    if (one !== undefined) count(one.namespace, -one.targets);
    resting.delete(uid);
  };
  const hasRoom = (namespace: string, more: number): boolean =>
    (counts.get(namespace) ?? 0) + more <= MOST_TARGETS.ofNamespace &&
    [...counts.values()].reduce((sum, one) => sum + one, more) <= MOST_TARGETS.ofAll;

  const leave: RestingDrafts["leave"] = (key, uid) => {
    const former = byKey.get(key);
    if (former === undefined || former === uid) return;
    watches.leave(former);
    forget(former);
    changed.delete(former);
    byKey.delete(key);
  };

  return {
    rest: (txn, watched) => {
      const { uid, namespace, resourceVersion } = txn.metadata;
      const key = queueKey(txn);
      forget(uid);
      const targets = hasRoom(namespace, watched.length) ? watched : [];
      count(namespace, targets.length);
      resting.set(uid, { key, namespace, metadata: { resourceVersion }, targets: targets.length });
      byKey.set(key, uid);
      watches.join({ uid, namespace, as: impersonation(txn) }, targets);
    },
    leave,
    lastKnown: (uid) => resting.get(uid)?.metadata,
    takeChanged: (uid) => changed.delete(uid),
    stop: watches.stop,
  };
};
