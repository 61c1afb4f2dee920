import { FINALIZER } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { allStores } from "./before.ts";
import { type Ask, done, type Effect, run, type Step, wait } from "./effect.ts";
import { fromTimestamp, type Instant } from "./instant.ts";
import { deleteJournal, readJournal } from "./journaling.ts";
import { afresh, journalIn } from "./known.ts";
import { leftOvers } from "./left-overs.ts";
import { readNamespace } from "./leaving.ts";
import { lockPlace, look, release } from "./lease.ts";
import { leases } from "./object.ts";
import { discoveries, places } from "./places.ts";
import { isUnsettled, recover, recoveryDue } from "./recovery.ts";
import { finalizers, ownPlace } from "./record.ts";
import { letGo, takeAway } from "./release-stores.ts";
import { LOOK_AGAIN, quiet, type Situation } from "./situation.ts";

/**
 * Cleans up after the terminal status: locks, journal, stores that nothing will be restored from, and last the finalizer.
 * Then only time or a person brings a Transaction back: a Failed one is tried again, a finished one expires.
 *
 * Guarantees: only Leases that we hold are deleted; of a Failed Transaction that has still something to restore, the
 *             snapshots and the journal stay, and so does the Transaction.
 */
export const finished = (situation: Situation): Step => {
  const { txn, known, now, settings } = situation;
  const mine = txn.metadata.finalizers ?? [];
  const due = recoveryDue(situation);
  if (due !== undefined && due <= now) return recover(situation);
  if (!mine.includes(FINALIZER))
    return due === undefined ? expire(situation) : wait(due, "what could not be put back is tried again then");
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  if (known.journal === undefined && !known.released.has("journal")) return run(readJournal(txn));
  const asking = askForNamespace(situation);
  if (asking !== undefined) return run(asking);
  if (goesAnyway(situation)) {
    const holding = [...remains(situation), ...leftOvers(situation)].filter(({ call }) => call.verb !== "delete");
    return run(...(holding.length > 0 ? holding : [withoutFinalizer(txn)]));
  }
  const pending = [...locks(situation), ...remains(situation), ...leftOvers(situation)];
  if (pending.length > 0) return run(...pending);
  const quietAt = lastCreate(situation) + quiet(settings);
  if (now < quietAt) return wait(quietAt, "something of its own that was not answered may still be made");
  if (!known.released.has(SWEPT) && Number.isFinite(quietAt)) return run(sweep(situation));
  // Only now: it says under which names there may be stores.
  if (journalGoes(txn) && !known.released.has("journal")) return run(deleteJournal(txn));
  return run(withoutFinalizer(txn));
};

const withoutFinalizer = (txn: Situation["txn"]): Ask =>
  finalizers(
    txn,
    (txn.metadata.finalizers ?? []).filter((name) => name !== FINALIZER),
  );

/** Where it was deleted, and cannot clean up: is its namespace being deleted, too? */
const askForNamespace = (situation: Situation): Ask | undefined => {
  const { txn, known, now } = situation;
  const { namespace, hindered } = known;
  if (hindered === undefined || txn.metadata.deletionTimestamp === undefined) return undefined;
  return namespace === undefined || now >= namespace.looked + LOOK_AGAIN ? readNamespace(situation) : undefined;
};

/**
 * What cannot be cleaned up goes with the namespace that is being deleted, and a lock is no longer one when its Transaction is
 * gone: so the finalizer holds up nothing for them. Stores that bear a finalizer of ours are another matter: they would keep
 * the namespace for ever, and this Transaction is all that says so; of them it lets go first, however long that takes.
 */
const goesAnyway = ({ txn, known }: Situation): boolean =>
  known.hindered !== undefined && txn.metadata.deletionTimestamp !== undefined && known.namespace?.isGoing === true;

/** Everything was looked for once more when nothing could turn up any more. */
const SWEPT = "swept";

/**
 * When the last create of a Lease, a store or the journal went out whose outcome this process does not know. What it took over
 * from a former process counts as sent just before.
 */
const lastCreate = ({ txn, known }: Situation): Instant => {
  const tookOver = txn.status.startedAt === undefined || known.begun ? Number.NEGATIVE_INFINITY : known.since;
  return Math.max(tookOver, known.unansweredCreate ?? Number.NEGATIVE_INFINITY);
};

/** Begins the clean-up once more, with nothing taken for released that may have been made since. */
const sweep = ({ txn }: Situation): Ask => {
  const read = readJournal(txn);
  return {
    ...read,
    learn: (known, answer, now, sent) => ({
      ...read.learn({ ...afresh(known, known.since), released: new Set([SWEPT]) }, answer, now, sent),
    }),
  };
};

/** Leases that are ours, or that have to be looked at to know. */
const locks = (situation: Situation): readonly Effect[] => {
  const { txn, known, settings } = situation;
  // A kind may be gone by now: the Transaction itself may have deleted it.
  const recorded = txn.status.items.flatMap(({ lock }, index) =>
    lock === undefined ? [] : [[index, { resource: leases, namespace: lock.namespace, name: lock.lease }] as const],
  );
  const located = [...places(txn, known)].map(
    ([index, place]) => [index, lockPlace(place, settings.controllerNamespace)] as const,
  );
  return [...new Map([...recorded, ...located])].flatMap(([index, lease]): readonly Effect[] => {
    const sight = known.locks.get(index);
    if (sight?.at === "held") return release(situation, index, lease);
    if (sight?.at === "theirs" || sight?.at === "lost" || known.released.has(`lock ${index}`)) return [];
    const looking = look(situation, index, lease, true);
    return [sight?.at === "impossible" ? unlessDenied(index, looking) : { ...looking, untilDone: true }];
  });
};

/** A lock that was refused is there all the same, where the refusal was not the API server's. Who may not look has none. */
const unlessDenied = (index: number, looking: Ask): Ask => ({
  ...looking,
  untilDone: "unless-denied",
  learn: (known, answer, ...when) => {
    const learned = looking.learn(known, answer, ...when);
    return E.isRight(answer) ? learned : { ...learned, released: new Set([...learned.released, `lock ${index}`]) };
  },
});

/** Whether there is something that may have to be restored; what was deleted while it was active leaves what is committed. */
const isLeft = ({ phase, items }: Situation["txn"]["status"]): boolean =>
  phase === "Failed" && items.some((item) => isUnsettled(item) || item.state.at === "committed");

/** Also where no journal is recorded: it may have been made just before the Transaction failed. */
const journalGoes = ({ metadata, status }: Situation["txn"]): boolean =>
  !isLeft(status) || metadata.deletionTimestamp !== undefined;

/** Snapshots, as far as nothing will be restored from them. */
const remains = ({ txn, known }: Situation): readonly Ask[] => {
  const { phase } = txn.status;
  const left = isLeft(txn.status);
  const isGoing = txn.metadata.deletionTimestamp !== undefined;
  // On RolledBack they are kept for a look, and owned by the Transaction.
  const goes = phase === "Committed" || (phase === "Failed" && !left);
  const to = phase === "RolledBack" ? "owned" : left && isGoing ? "orphaned" : "kept";
  return allStores(txn, journalIn(known)).flatMap((ref) =>
    goes ? takeAway(txn, known, ref) : letGo(txn, known, ref, to),
  );
};

/** As on a Job: https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/ */
const expire = ({ txn, known, now }: Situation): Step => {
  const { ttlSecondsAfterFinished: ttl } = txn.spec;
  const completed = fromTimestamp(txn.status.completedAt);
  const going = txn.metadata.deletionTimestamp !== undefined;
  const kept = going || known.released.has(EXPIRED) || txn.status.items.some(isUnsettled);
  if (ttl === undefined || completed === undefined || kept) return done;
  const until = completed + ttl * 1000;
  return now < until ? wait(until, "it is deleted then") : run(remove(txn));
};

const EXPIRED = "transaction";

const remove = (txn: Situation["txn"]): Ask => ({
  purpose: "expire",
  as: "controller",
  call: {
    verb: "delete",
    place: ownPlace(txn),
    preconditions: { uid: txn.metadata.uid, resourceVersion: txn.metadata.resourceVersion },
  },
  untilDone: true,
  learn: (known) => ({ ...known, released: new Set([...known.released, EXPIRED]) }),
});
