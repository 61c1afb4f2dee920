import { run, type Step } from "./effect.ts";
import type { Going } from "./going.ts";
import type { Journal, Renewed } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { set, unset } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { withLostOwners } from "./owners.ts";
import type { Situation } from "./situation.ts";
import { pack, snapshotKey } from "./snapshot.ts";
import { store } from "./stores.ts";
import { turnBack } from "./turn-back.ts";

/**
 * Others changed the target in fields that are none of ours since it was read: what there is now is kept in a new store,
 * recorded in the journal, and from then on is what rollback goes back to. With the owners that it has lost by the
 * Transaction itself.
 */
export const renewSnapshot = (
  situation: Situation,
  journal: Journal,
  { index, place, before }: Going,
  live: KubeObject,
): Step => {
  const { txn, known } = situation;
  const object = before === undefined ? live : withLostOwners(txn, journal, before, live);
  const { packs } = pack(new Map([[index, object]]));
  const storing = store(txn, known, packs);
  if (storing.at === "going") return run(storing.effect);
  const [first, ...more] = storing.at === "stored" ? storing.stores : [];
  if (first === undefined)
    return turnBack(situation, journal, {
      reason: "CommitFailed",
      message: storing.at === "refused" ? storing.why : `${show(place)} cannot be kept`,
      fate: "unmade",
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
    learn: (known, answer, now, sent) => ({
      ...recorded.learn(known, answer, now, sent),
      before: set(known.before, index, object),
      attempts: unset(known.attempts, index),
      live: unset(known.live, index),
    }),
  });
};
