import * as E from "fp-ts/lib/Either.js";
import { allStores } from "../snapshots/prior-state.ts";
import { run, type Step } from "../state/effect.ts";
import type { ChangeContext } from "./change-context.ts";
import type { Journal, Renewed } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { withChange } from "../state/observations.ts";
import { ownerUids, formatRef } from "../kubernetes/kube-object.ts";
import { withLostOwners } from "../snapshots/owner-references.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { pack, snapshotKey } from "../snapshots/snapshot-data.ts";
import { deleteOrRetry } from "../snapshots/release-stores.ts";
import { store, writeNext } from "../snapshots/snapshot-stores.ts";
import { abort } from "../transitions/abort.ts";
import type { KubeObject } from "@janus/types";

/**
 * Others changed the target in fields that are none of ours since it was read: what there is now is kept in a new store,
 * recorded in the journal, and from then on is what rollback goes back to. With the owners that it has lost by the
 * Transaction itself.
 *
 * Guarantees: however often that happens, there are two such stores of a change at most, and the one that is recorded is whole:
 *             the one before it is taken away before the next one is written.
 */
export const renewSnapshot = (
  context: ReconcileContext,
  journal: Journal,
  { index, place, before }: ChangeContext,
  live: KubeObject,
): Step => {
  const { txn, known } = context;
  const needed = new Set(allStores(txn, journal).map(({ uid }) => uid));
  const obsolete = known.obsolete.filter(({ uid }) => !needed.has(uid));
  const dropping = obsolete.flatMap((ref) => deleteOrRetry(txn, known, ref));
  if (dropping.length > 0) return run(...dropping);
  const object = before === undefined ? live : withLostOwners(txn, journal, before, live);
  const { packs } = pack(new Map([[index, object]]));
  const storing = store(txn, known, packs);
  if (storing.type === "writing") return run(writeNext(txn, journal, storing, packs.length));
  const [first, ...more] = storing.type === "stored" ? storing.stores : [];
  if (first === undefined)
    return abort(context, journal, {
      reason: "CommitFailed",
      message: storing.type === "refused" ? storing.why : `${formatRef(place)} cannot be stored in a snapshot`,
      fate: "rejected",
    });
  const renewed: Renewed = {
    before: {
      existed: true,
      uid: object.metadata.uid ?? "",
      resourceVersion: object.metadata.resourceVersion ?? "",
      snapshot: { store: first.name, key: snapshotKey(index, object) },
    },
    stores: [first, ...more],
  };
  const recorded = checkpoint(txn, journal, { renewed: [index, renewed] });
  return run({
    ...recorded,
    onAnswer: (known, answer, now, sent) => ({
      ...withChange(recorded.onAnswer(known, answer, now, sent), index, {
        before: object,
        ownersBefore: ownerUids(object),
        write: undefined,
        target: undefined,
      }),
      ...(E.isRight(answer) ? { obsolete: journal.renewed.get(index)?.stores ?? [] } : {}),
    }),
  });
};
