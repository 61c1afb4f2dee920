import type { Transaction } from "@janus/api";
import { isIrreversible } from "./irreversible-kinds.ts";
import { equal } from "../kubernetes/json.ts";
import type { Observations } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { storageOf } from "../kubernetes/outline.ts";
import { type Item, itemsOf } from "../state/resolved-changes.ts";

/** What a change makes of its target that the API server lets nobody take back; undefined for nothing. */
const forGood = (known: Observations, { index, change, place: { resource } }: Item): string | undefined => {
  const live = known.live.get(index)?.object;
  if (live === undefined || change.type === "Delete" || resource.group !== "") return undefined;
  const { content } = change;
  if (["ConfigMap", "Secret"].includes(resource.kind) && content["immutable"] === true && live["immutable"] !== true)
    return "makes it immutable";
  const storage = resource.kind === "PersistentVolumeClaim" ? storageOf(content) : undefined;
  return storage === undefined || equal(storage, storageOf(live)) ? undefined : "makes it larger";
};

/**
 * Why a change stands in the wrong place: nothing can undo it, so it has to come after all that could fail and be undone, as the
 * deletions have that nothing can undo.
 *
 * Assumes: all targets have been read.
 */
export const irreversibleProblems = (txn: Transaction, known: Observations): ((item: Item) => readonly string[]) => {
  const isUndone = (item: Item): boolean => !isIrreversible(item.change) && forGood(known, item) === undefined;
  const last = itemsOf(txn, known).findLast(isUndone)?.index ?? -1;
  return (item) => {
    const what = forGood(known, item);
    return what === undefined || item.index > last
      ? []
      : [
          `the ${item.change.type} of ${formatRef(item.place)} ${what}, which nothing can undo: move it to the end of the list`,
        ];
  };
};
