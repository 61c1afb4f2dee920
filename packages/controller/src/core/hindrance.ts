import { cut } from "@janus/api";
import type { Ask, Effect, Telling } from "./effect.ts";
import { type Fault, sentence } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { Known } from "./known.ts";
import { show } from "./object.ts";
import { deadline } from "./preparing.ts";
import { isTerminal, record, WAITING } from "./record.ts";
import type { Situation } from "./situation.ts";

/** Trouble that is over within this time, in ms, is nobody's business. */
const BRIEF = 2000;
/** Of lasting trouble people are told this often at most, in ms: it may be told in other words each time. */
const TELL_AGAIN = 30_000;

const VERBS = {
  get: "read",
  create: "create",
  update: "update",
  apply: "change",
  mergePatch: "change",
  delete: "delete",
} as const;

/** Requests get through again. */
export const unhindered = (known: Known): Known => {
  const { hindered: _, ...rest } = known;
  return rest;
};

/** How long nothing has to be done before spec.timeout turns the Transaction round, in ms: no server is left alone for longer. */
export const timeLeft = (situation: Situation): number => {
  const { phase } = situation.txn.status;
  const left = deadline(situation) - situation.now;
  return isTerminal(phase) || phase === "RollingBack" || left <= 0 ? Number.POSITIVE_INFINITY : left;
};

/** What was tried, in words. */
export const attempt = (effect: Effect): string => {
  if ("call" in effect) return `${VERBS[effect.call.verb]} ${show(effect.call.place)}`;
  if (effect.purpose === "discover") return `find where ${effect.kind} of ${effect.apiVersion} is served`;
  return effect.unowned
    ? "find what others have put into what is taken away"
    : "find what the targets of deletions own";
};

/** People have been told. */
export const toldOf = (known: Known, now: Instant): Known => ({
  ...known,
  hindered: { since: known.hindered?.since ?? now, told: now },
});

/**
 * Tells people where they look what a Transaction that is under way waits for, when a request has not got through for a while.
 *
 * Guarantees: costs nothing while nothing is wrong, and one write now and then while something is.
 * @returns an event for one that has ended: its status stays as it is
 */
export const hindrance = ({ txn, known, now }: Situation, effect: Effect, fault: Fault): Ask | Telling | undefined => {
  const { since = now, told } = known.hindered ?? {};
  const isRecent = told !== undefined && now < told + TELL_AGAIN;
  if (now < since + BRIEF || isRecent) return undefined;
  const message = cut(`trying again to ${attempt(effect)}: ${sentence(fault)}`, 1024);
  if (isTerminal(txn.status.phase)) return { type: "Warning", reason: "RecoveryBlocked", message };
  const tried = (known: Known): Known => toldOf(known, now);
  const recorded = record(txn, { because: { reason: WAITING, message } }, now);
  return { ...recorded, learn: (...answer) => tried(recorded.learn(...answer)), lost: tried };
};
