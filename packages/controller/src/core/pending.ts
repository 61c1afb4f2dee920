import { FINALIZER, GROUP, KIND, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { type Ask, done, run, type Step } from "./effect.ts";
import { isIrreversible } from "./irreversible.ts";
import { asObject } from "./json.ts";
import { readJournal } from "./journaling.ts";
import { journalIn, type Known } from "./known.ts";
import { leaveAlone } from "./leave-alone.ts";
import { toTimestamp } from "./instant.ts";
import { raised } from "./lease.ts";
import { type Place, show } from "./object.ts";
import { discoveries, groupOf, locate, places } from "./places.ts";
import { finalizers, record } from "./record.ts";
import { failBefore } from "./refuse.ts";
import type { Situation } from "./situation.ts";

/** Of a Transaction: what is wrong with each of its changes, whose target is there as far as it has a place. */
type Check = (txn: Transaction, known: Known) => (index: number, place: Place | undefined) => string | undefined;

/** No two objects have the same. */
const nameOf = (place: Place): string => `${place.resource.group} ${show(place)}`;

/** What a Transaction may not ask for, beyond what the API server itself refuses: one small check each. */
const checks: readonly Check[] = [
  (txn, known) => (index) => {
    const place = locate(txn, known, index);
    return E.isLeft(place) ? place.left : undefined;
  },
  (txn, known) => {
    const first = new Map(
      [...places(txn, known)].toReversed().map(([index, place]) => [nameOf(place), index] as const),
    );
    return (index, place) => {
      const earlier = place === undefined ? undefined : first.get(nameOf(place));
      return place === undefined || earlier === undefined || earlier === index
        ? undefined
        : `changes ${earlier} and ${index} are both of ${show(place)}: make them one`;
    };
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || place === undefined) return undefined;
    const namespace = asObject(change.content["metadata"])["namespace"];
    return namespace === undefined || namespace === place.namespace
      ? undefined
      : `content.metadata.namespace of ${show(place)} is ${JSON.stringify(namespace)}: take it out, or set target.namespace`;
  },
  (txn) => (index) => {
    const change = txn.spec.changes[index];
    return change?.type === "Delete" &&
      change.target.kind === "Namespace" &&
      change.target.name === txn.metadata.namespace
      ? `it would delete its own namespace ${txn.metadata.namespace}: create the Transaction in another one`
      : undefined;
  },
  (txn) => {
    const last = txn.spec.changes.findLastIndex((_, index) => !isIrreversible(txn.spec.changes[index]));
    return (index) =>
      isIrreversible(txn.spec.changes[index]) && index < last
        ? `nothing can undo the deletion of a ${txn.spec.changes[index]?.target.kind}: move it to the end of the list`
        : undefined;
  },
  (txn) => (index) => {
    const target = txn.spec.changes[index]?.target;
    return target !== undefined && groupOf(target.apiVersion) === GROUP && target.kind === KIND
      ? "a Transaction cannot be a target: put back, it would run again; name what it changes instead"
      : undefined;
  },
];

/** Room for the status of one item at its worst: names of 253 characters, an error of 256 bytes (each may be escaped). */
const ITEM_BYTES = 1600;
/** What a Delete may take with it, as `dependents` and in a warning. */
const DELETION_BYTES = 300;
const OBJECT_BYTES = 1024 * 1024;

const tooLarge = (txn: Transaction): string | undefined => {
  const size =
    new TextEncoder().encode(JSON.stringify([txn.metadata, txn.spec])).length +
    txn.spec.changes.length * ITEM_BYTES +
    txn.spec.changes.filter(({ type }) => type === "Delete").length * DELETION_BYTES;
  return size <= OBJECT_BYTES
    ? undefined
    : `the Transaction is too large to keep its own status (${Math.ceil(size / 1024)} of 1024 KiB): split it`;
};

/** What had no finalizer has no journal either. */
const hasNoJournal: Ask["learn"] = (known) => ({ ...known, journal: { at: "missing" } });

/** Refuses what cannot work, before anything is touched; then puts the finalizer on and begins. */
export const pending = (situation: Situation): Step => {
  const { txn, known, now, settings } = situation;
  const isHeld = (txn.metadata.finalizers ?? []).includes(FINALIZER);
  // A former process put the finalizer on and did not live to go on; or it has begun, and somebody has wiped out its status.
  if (isHeld && known.journal === undefined) return run(readJournal(txn));
  if (journalIn(known) !== undefined)
    return leaveAlone(situation, "status.phase: is Pending, but there is a journal: changes may have been made");
  if (txn.metadata.deletionTimestamp !== undefined)
    return isHeld
      ? run(
          finalizers(
            txn,
            (txn.metadata.finalizers ?? []).filter((name) => name !== FINALIZER),
          ),
        )
      : done;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  const checking = checks.map((check) => check(txn, known));
  const problems = new Map(
    txn.spec.changes.flatMap((_, index) => {
      const found = checking.flatMap((check) => check(index, places(txn, known).get(index)) ?? []);
      return found.length === 0 ? [] : [[index, found] as const];
    }),
  );
  const large = tooLarge(txn);
  if (large !== undefined || problems.size > 0)
    return run(
      failBefore(txn, now, { reason: "InvalidTransaction", problems, general: large === undefined ? [] : [large] }),
    );
  if (!isHeld) {
    const asked = finalizers(txn, [...(txn.metadata.finalizers ?? []), FINALIZER]);
    return run({ ...asked, learn: hasNoJournal });
  }
  const begun = record(
    txn,
    {
      phase: "Preparing",
      startedAt: toTimestamp(now),
      items: txn.spec.changes.map(() => ({ state: { at: "untouched" } })),
      because: { reason: "Preparing", message: "taking the locks and checking every change" },
    },
    now,
    {
      type: "Normal",
      reason: "Initializing",
      message: [
        `${txn.spec.changes.length} change${txn.spec.changes.length === 1 ? "" : "s"}, made as ServiceAccount ${txn.spec.serviceAccountName}`,
        ...raised({ txn, settings }),
      ].join("; "),
    },
  );
  const learn: Ask["learn"] = (...answer) => ({ ...begun.learn(...answer), begun: true });
  return run({ ...begun, learn });
};
