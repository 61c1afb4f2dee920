// Executes the running phases of an ActionSet side by side, and removes what ended ones have left.
import { classify, type Instant, isAbsent } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { rollBack, spentTransactions } from "./atomic/rollback.ts";
import type { Effect, Step } from "./effect.ts";
import type { Journal } from "./journal.ts";
import type { Memory } from "./memory.ts";
import { phaseKey } from "./names.ts";
import { type Awaited, indexOf, type Settings } from "./phase-context.ts";
import { applied } from "./phase-result.ts";
import { contextOf, deadlineOf, stepOf, timeLimit } from "./phase-step.ts";
import { madePods } from "./pods/parts.ts";
import { type RenderedObject, secretsIn } from "./render-args.ts";
import { get, inquiry, type ObjectRef, remove } from "./requests.ts";
import { recordOf, recordsOf, retrying, running, scheduled } from "./schedule.ts";
import { NO_SECRETS, secretValues } from "./scrub.ts";

/** An object that a phase has made, by the name under which answers about it are remembered. */
interface Leftover {
  readonly key: string;
  readonly ref: ObjectRef;
  readonly uid: string;
}

/** The Pods that phases have made that have ended. */
const endedPods = (journal: Journal): readonly Leftover[] =>
  recordsOf(journal).flatMap(({ action, phase, record: { state, attempt, remembered = {} } }) =>
    state === "running"
      ? []
      : madePods(remembered).map(({ part, ref, uid }) => ({ key: phaseKey(action, phase, attempt, part), ref, uid })),
  );

/**
 * Deletes the Pods of phases that have ended, since their results are in the journal, and Transactions that nobody needs any more.
 * A conflict is judged by what is there.
 */
export const leftovers = (memory: Memory, actionSet: ActionSet, journal: Journal): readonly Effect[] =>
  [...endedPods(journal), ...spentTransactions(actionSet, journal)].flatMap(({ key, ref, uid }: Leftover) => {
    const as = journal.serviceAccount;
    const of = ref.resource.kind.toLowerCase();
    const removed = memory.facts.get(`${key}/removed`);
    const deletion = remove(`delete-${of}`, `${key}/removed`, ref, uid, as);
    if (removed === undefined) return [deletion];
    if (E.isRight(removed) || classify(removed.left) !== "conflict" || isAbsent(removed.left)) return [];
    const left = memory.facts.get(`${key}/left`);
    if (left === undefined) return [get(`read-${of}`, `${key}/left`, ref, as)];
    return E.isRight(left) && left.right.metadata.uid === uid ? [deletion] : [];
  });

/** The next step of all running phases together. */
export interface Advance {
  /** The journal with all that is to be recorded now. */
  readonly journal: Journal;
  readonly effects: readonly Effect[];
  /** The wait when nothing else is to be done. */
  readonly wait: Extract<Step, { readonly type: "wait" }>;
  /** The waits of the phases, as their functions say them: they may have values of Secrets. */
  readonly awaited: readonly Awaited[];
  /** A phase runs whose time is not over, or that may have ended in time. */
  readonly isGoing: boolean;
}

/** Decides what is next in all running phases, side by side. */
export const advance = (
  memory: Memory,
  actionSet: ActionSet,
  journal: Journal,
  settings: Settings,
  now: Instant,
): Advance => {
  const ask = inquiry(memory);
  const steps = running(journal).map((id) => {
    const record = recordOf(journal, id) ?? { state: "running", attempt: 1 };
    const context = contextOf(memory, actionSet, journal, id, record, settings, now);
    return { id, context, step: stepOf(context, ask, journal) };
  });
  const known = steps.flatMap(({ id, context, step }) =>
    step === undefined || step.type === "overdue" ? [] : [{ id, context, step }],
  );
  const overdue = steps.flatMap(({ id, step }) =>
    step?.type === "overdue" && step.because !== undefined ? [{ ...id, because: step.because }] : [],
  );
  const isLate = now >= timeLimit(journal);
  const args = recordsOf(journal).flatMap(({ record }) => (record.args ?? []) as RenderedObject | readonly []);
  const isEnd = known.some(({ step }) => step.type === "end" || step.type === "fail");
  const secrets = isEnd ? secretValues(memory, args.flatMap(secretsIn)) : NO_SECRETS;
  const after = known.reduce((all, { context, step }) => applied(all, context, step, secrets), journal);
  const rolling = rollBack(memory, actionSet, after, now);
  const waits = known.flatMap(({ id, context, step }) =>
    step.type === "wait" ? [{ id, ...step, until: Math.min(step.until, deadlineOf(journal, context)) }] : [],
  );
  const retries = retrying(journal);
  const removals = leftovers(memory, actionSet, rolling.journal);
  const effects = known.flatMap(({ step }) => (step.type === "run" ? step.effects : []));
  return {
    // No further phase begins before it is known which ones have ended in time.
    journal: isLate ? rolling.journal : scheduled(rolling.journal, now, removals.length === 0),
    effects: [...removals, ...ask.missing, ...effects, ...rolling.effects],
    wait: {
      type: "wait",
      until: Math.min(
        isLate ? Number.POSITIVE_INFINITY : timeLimit(journal),
        ...[...waits, ...rolling.waits].map(({ until }) => until),
        ...retries.map(({ at }) => at),
      ),
      because: [
        ...[...waits, ...rolling.waits].map(({ because }) => because),
        ...retries.map(({ why }) => `tried again: ${why}`),
      ].join("; "),
      watched: [...waits, ...rolling.waits].flatMap(({ id, watched }) =>
        (watched ?? []).map(({ ref, resourceVersion }, at) => ({
          index: indexOf(id, at),
          place: ref,
          resourceVersion,
        })),
      ),
      follow: waits.flatMap(({ follow }) => follow ?? []),
      execs: waits.flatMap(({ execs }) => execs ?? []),
    },
    awaited: [...waits.map(({ id, because }) => ({ ...id, because })), ...overdue],
    isGoing: steps.some(({ id, step }) => id.phase !== "defer" && step?.type !== "overdue"),
  };
};
