import { cut } from "@janus/api";
import type { Ask, Effect } from "./effect.ts";
import { type Fault, sentence } from "./fault.ts";
import type { Known } from "./known.ts";
import { show } from "./object.ts";
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

/** What was tried, in words. */
const attempt = (effect: Effect): string => {
  if ("call" in effect) return `${VERBS[effect.call.verb]} ${show(effect.call.place)}`;
  return effect.purpose === "discover"
    ? `find where ${effect.kind} of ${effect.apiVersion} is served`
    : "find what the targets of deletions own";
};

/**
 * Tells people where they look what a Transaction that is under way waits for, when a request has not got through for a while.
 *
 * Guarantees: costs nothing while nothing is wrong, and one write now and then while something is.
 */
export const hindrance = ({ txn, known, now }: Situation, effect: Effect, fault: Fault): Ask | undefined => {
  const { since = now, told } = known.hindered ?? {};
  const isRecent = told !== undefined && now < told + TELL_AGAIN;
  if (isTerminal(txn.status.phase) || now < since + BRIEF || isRecent) return undefined;
  const message = cut(`trying again to ${attempt(effect)}: ${sentence(fault)}`, 1024);
  const tried = (known: Known): Known => ({ ...known, hindered: { since, told: now } });
  const recorded = record(txn, { because: { reason: WAITING, message } }, now);
  return { ...recorded, learn: (...answer) => tried(recorded.learn(...answer)), lost: tried };
};
