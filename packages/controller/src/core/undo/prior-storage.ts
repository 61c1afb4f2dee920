// Keeps a created claim, volume or snapshot whose deletion would destroy data from before.
import { RETRY_ROLLBACK } from "@janus/api";
import { asObject, type KubeObject } from "@janus/types";
import { boundTo, destroyedBehind, destroyedWith, priorStorage } from "../kubernetes/backing-storage.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import type { ApiCall } from "../state/effect.ts";
import { rollbackIn } from "../state/observations.ts";
import { createdUids } from "./created-uids.ts";
import { conflict, continues, type UndoContext, type UndoStep } from "./undo-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** Milliseconds after which it is read again: others may have changed its policy, or bound it, since. */
const FRESH = 5_000;

/** How long, in ms, it is read again where that is refused: an API server that has just started does not know its roles yet. */
const DOUBTED = 5_000;

const kept = (place: ObjectRef, storage: ObjectRef, policy: string): UndoStep =>
  conflict(
    `${formatRef(place)} is not deleted, nor its data, which was there before: set ${policy} of ${formatRef(storage)} to Retain, and retry with the annotation ${RETRY_ROLLBACK}`,
  );

const read = ({ index }: UndoContext, storage: ObjectRef): ApiCall => ({
  purpose: "read-target",
  item: index,
  as: "serviceAccount",
  mayBeUnserved: true,
  call: { verb: "get", place: storage },
  folds: [{ type: "storage-read" }],
});

/** The volume of a claim, or the content of a snapshot, that goes with it. */
const storageBehind = (undoContext: UndoContext, object: KubeObject): UndoStep | undefined => {
  const { index, place, seen, context } = undoContext;
  const storage = priorStorage(object);
  if (storage === undefined) return undefined;
  const found = rollbackIn(context.known, index).storage;
  if (found === undefined || found.readAt < seen.at || context.now >= found.readAt + FRESH)
    return continues(read(undoContext, storage));
  const policy = found.object === undefined ? undefined : destroyedWith(object, found.object);
  if (policy !== undefined) return kept(place, storage, policy);
  if (found.fault === undefined) return undefined;
  if (found.readAt < found.since + DOUBTED) {
    const until = found.readAt + POLL_INTERVAL;
    return context.now < until
      ? { type: "wait", until, because: `trying again to read ${formatRef(storage)}: ${found.fault}` }
      : continues(read(undoContext, storage));
  }
  return conflict(
    `${formatRef(place)} is not deleted, since ${formatRef(storage)}, which was not made for it, may go with it, and cannot be read: delete it yourself, or let the ServiceAccount read that, and retry (${found.fault})`,
  );
};

/**
 * Keeps a claim of a volume, a volume, or a snapshot that the change created if, with it, the cluster would delete data that was
 * there before, or that is another client's. A volume that was provisioned for the claim goes with it.
 *
 * Assumes: a volume is not bound to the claim between this read and the deletion.
 */
export const storageOfOthers = (undoContext: UndoContext): UndoStep | undefined => {
  const { place, seen } = undoContext;
  const { object } = seen;
  if (object === undefined) return undefined;
  const user = boundTo(object);
  if (user !== undefined && !createdUids(undoContext).has(user.uid))
    return conflict(
      `${formatRef(place)} is not deleted: ${user.name} of another client is bound to it; delete it yourself, or retry when that is gone with the annotation ${RETRY_ROLLBACK}`,
    );
  const policy = destroyedBehind(object);
  return policy === undefined ? storageBehind(undoContext, object) : kept(place, place, policy);
};

/**
 * Says that a volume which was there before is left without the claim that the change created, and as Kubernetes leaves it then:
 * for messages; undefined if there is none, as far as this process has read it.
 */
export const releasedVolume = ({ index, place, context }: UndoContext): string | undefined => {
  const { object } = rollbackIn(context.known, index).storage ?? {};
  const { name, namespace } = asObject(asObject(object?.["spec"])["claimRef"]);
  return object?.kind === "PersistentVolume" && name === place.name && namespace === place.namespace
    ? `PersistentVolume ${object.metadata.name} is left Released, with its data: remove its spec.claimRef to bind it again`
    : undefined;
};
