import * as E from "fp-ts/lib/Either.js";
import { allStores } from "./before.ts";
import { run, type Step } from "./effect.ts";
import type { Going } from "./going.ts";
import type { Journal, Renewed } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { set, unset } from "./known.ts";
import { type KubeObject, ownerUids, show } from "./object.ts";
import { withLostOwners } from "./owners.ts";
import type { Situation } from "./situation.ts";
import { pack, snapshotKey } from "./snapshot.ts";
import { takeAwayOrLater } from "./release-stores.ts";
import { store, writeNext } from "./stores.ts";
import { turnBack } from "./turn-back.ts";

/**
 * Others changed the target in fields that are none of ours since it was read: what there is now is kept in a new store,
 * recorded in the journal, and from then on is what rollback goes back to. With the owners that it has lost by the
 * Transaction itself.
 *
 * Guarantees: however often that happens, there are two such stores of a change at most, and the one that is recorded is whole:
 *             the one before it is taken away before the next one is written.
 */
export const renewSnapshot = (
  situation: Situation,
  journal: Journal,
  { index, place, before }: Going,
  live: KubeObject,
): Step => {
  const { txn, known } = situation;
  const needed = new Set(allStores(txn, journal).map(({ uid }) => uid));
  const obsolete = known.obsolete.filter(({ uid }) => !needed.has(uid));
  const dropping = obsolete.flatMap((ref) => takeAwayOrLater(txn, known, ref));
  if (dropping.length > 0) return run(...dropping);
  const object = before === undefined ? live : withLostOwners(txn, journal, before, live);
  const { packs } = pack(new Map([[index, object]]));
  const storing = store(txn, known, packs);
  if (storing.at === "going") return run(writeNext(txn, journal, storing, packs.length));
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
      ...(E.isRight(answer) ? { obsolete: journal.renewed.get(index)?.stores ?? [] } : {}),
      before: set(known.before, index, object),
      ownersBefore: set(known.ownersBefore, index, ownerUids(object)),
      attempts: unset(known.attempts, index),
      live: unset(known.live, index),
    }),
  });
};
