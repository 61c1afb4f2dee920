// Decides what one phase does next: its arguments are rendered, its bounds looked at, and its function asked.
import { fromTimestamp, type Instant } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import type { BlueprintPhase } from "../api/blueprint.ts";
import { type Args, type ArgTable, readArgs, renderArgs } from "./args.ts";
import { DEFER_OF_DELETED, timeoutOf } from "./bounds.ts";
import { functionOf } from "./functions/index.ts";
import type { Journal, PhaseRecord } from "./journal.ts";
import { NO_LOG } from "./log-output.ts";
import type { Memory } from "./memory.ts";
import { phaseKey } from "./names.ts";
import { paramsOf } from "./params.ts";
import type { PhaseContext, PhaseId, PhaseStep, Settings } from "./phase-context.ts";
import type { RenderedObject } from "./render-args.ts";
import type { Inquiry } from "./requests.ts";
import { arePhasesEnded, isStopped, mustEnd, PENDING, recordOf } from "./schedule.ts";
import type { Data } from "./templates.ts";

export const phaseAt = ({ actions }: Journal, { action, phase }: PhaseId): BlueprintPhase => {
  const blueprint = actions[action]?.blueprint;
  return (phase === "defer" ? blueprint?.deferPhase : blueprint?.phases?.[phase]) ?? {};
};

const instant = (time: string | undefined): Instant => fromTimestamp(time) ?? 0;

const limitOf = ({ spec, time }: Journal): Instant => instant(time) + (timeoutOf(spec) ?? Number.POSITIVE_INFINITY);

/** The time by which phases must be done; never, once they are, or none begins any more. It does not bound deferPhases. */
export const timeLimit = (journal: Journal): Instant =>
  isStopped(journal) || arePhasesEnded(journal) ? Number.POSITIVE_INFINITY : limitOf(journal);

/** Bounds a phase that has begun then, in ms: by its own timeout, and by that of its ActionSet. Undefined: no bound. */
const allowedTo = (
  journal: Journal,
  { phase }: PhaseId,
  own: number | undefined,
  startedAt: Instant,
): number | undefined => {
  const left = phase === "defer" ? Number.POSITIVE_INFINITY : limitOf(journal) - startedAt;
  const least = Math.min(own ?? Number.POSITIVE_INFINITY, Math.max(0, left));
  return least === Number.POSITIVE_INFINITY ? undefined : least;
};

/** The answers, errors, logs and ended commands of a phase that runs. */
type Learned = Pick<Memory, "facts" | "troubles" | "logs" | "execs">;

const NOTHING: Learned = { facts: new Map(), troubles: new Map(), logs: new Map(), execs: new Map() };

export const contextOf = (
  memory: Learned,
  actionSet: ActionSet,
  journal: Journal,
  id: PhaseId,
  record: PhaseRecord,
  settings: Settings,
  now: Instant,
): PhaseContext => {
  const {
    object,
    profile,
    podOverride = {},
    podLabels = {},
    podAnnotations = {},
  } = journal.spec.actions?.[id.action] ?? {};
  const key = phaseKey(id.action, id.phase, record.attempt);
  const phase = phaseAt(journal, id);
  const { onInterrupted } = phase;
  const startedAt = instant(record.startedAt);
  const timeout = timeoutOf(phase);
  const allowed = allowedTo(journal, id, timeout, startedAt);
  return {
    actionSet,
    serviceAccount: journal.serviceAccount,
    id,
    name: phase.name ?? "",
    attempt: record.attempt,
    seed: journal.seed,
    ...(object === undefined ? {} : { object }),
    ...(profile === undefined ? {} : { profile }),
    startedAt,
    ...(timeout === undefined ? {} : { timeout }),
    ...(allowed === undefined ? {} : { allowed }),
    isAtomic: id.phase !== "defer" && journal.actions[id.action]?.blueprint.atomic === true,
    mayRerun: onInterrupted === undefined ? id.phase === "defer" : onInterrupted === "Rerun",
    now,
    settings,
    remembered: record.remembered ?? {},
    log: memory.logs.get(key) ?? NO_LOG,
    logOf: (part) => memory.logs.get(phaseKey(id.action, id.phase, record.attempt, part)) ?? NO_LOG,
    seen: record.seen ?? {},
    workload: journal.actions[id.action]?.workload ?? {},
    pod: { override: podOverride, labels: podLabels, annotations: podAnnotations },
    fact: (name) => memory.facts.get(`${key}/${name}`),
    trouble: (name) => memory.troubles.get(`${key}/${name}`),
    executed: (command) => memory.execs.get(command),
  };
};

export const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** Names the problem that a phase has before it has asked for anything: so it will when its turn comes, with these arguments. */
export const firstProblem = (
  actionSet: ActionSet,
  journal: Journal,
  id: PhaseId,
  settings: Settings,
  args: Partial<Args<ArgTable>>,
): readonly string[] => {
  const found = functionOf(phaseAt(journal, id).func ?? "");
  const isThere = Object.entries(found?.args ?? {}).every(([name, one]) => one.isRequired !== true || name in args);
  if (found === undefined || !isThere) return [];
  const context = contextOf(NOTHING, actionSet, journal, id, PENDING, settings, 0);
  const step = found.step(args, context);
  return step.type === "fail" ? [step.message] : [];
};

/** The time that a phase may take: by its bounds, and a deferPhase after a deletion for a bounded time in any case. */
const boundOf = (journal: Journal, { id, allowed }: PhaseContext): number =>
  allowed ?? (id.phase === "defer" && journal.deletedAt !== undefined ? DEFER_OF_DELETED : Number.POSITIVE_INFINITY);

/** The time since which a phase is late, and only its result is looked at. */
const overdueSince = ({ remembered }: PhaseContext): Instant | undefined =>
  fromTimestamp(remembered[OVERDUE] as string | undefined);

const OVERDUE = "overdueSince";

/** The time for which a result is looked for after that, in ms. */
const LAST_LOOK = 60_000;

export const deadlineOf = (journal: Journal, context: PhaseContext): Instant => {
  const since = overdueSince(context);
  return since === undefined ? context.startedAt + boundOf(journal, context) : since + LAST_LOOK;
};

/** Says why a phase is ended before it is done. Undefined: it goes on. */
const endedBy = (journal: Journal, context: PhaseContext): string | undefined => {
  const { id, now } = context;
  if (id.phase !== "defer" && mustEnd(journal))
    return journal.deletedAt === undefined ? journal.error : "the ActionSet was deleted";
  if (now < context.startedAt + boundOf(journal, context)) return undefined;
  const isOwn = id.phase === "defer" || now >= context.startedAt + (context.timeout ?? Number.POSITIVE_INFINITY);
  return isOwn
    ? `it was not done within ${phaseAt(journal, id).timeout ?? "10m, since the ActionSet was deleted"}`
    : `the ActionSet was not done within ${journal.spec.timeout ?? ""}`;
};

/** Tells whether it changes nothing, and waits for nothing but to be told of what has ended. */
const isLook = (step: PhaseStep): boolean =>
  step.type === "run"
    ? step.effects.every(({ request: { verb } }) => verb === "get" || verb === "list" || verb === "raw")
    : step.type === "wait" && step.isOver === true;

/** Ends a phase where it is: what it has made is found, to be removed. */
export const ended = (why: string, next: PhaseStep | undefined, stopping: PhaseStep | undefined): PhaseStep => {
  const last = fail(next?.type === "wait" ? `${why}: ${next.because}` : why);
  return stopping === undefined || stopping.type === "fail" ? last : stopping;
};

/** The time of its ActionSet is over, and it has not ended by then: nothing more is done in it. because: what it was at. */
export interface Overdue {
  readonly type: "overdue";
  readonly because?: string;
}

/**
 * Looks once more at a phase that is over time: what is done by then is done, though it may be found out only after a restart. Undefined:
 * it is not done.
 */
const lastLook = (context: PhaseContext, next: PhaseStep | undefined): PhaseStep | undefined => {
  if (next?.type === "end" || next?.type === "fail") return next;
  if (next === undefined || !isLook(next)) return undefined;
  const since = overdueSince(context);
  if (since !== undefined) return context.now < since + LAST_LOOK ? next : undefined;
  const overdue = { [OVERDUE]: new Date(context.now).toISOString() };
  return { type: "remember", remembered: { ...context.remembered, ...overdue } };
};

/** Decides what is next in one phase: its args are rendered anew, and the same each time. Undefined: what they need is still to be read. */
export const stepOf = (context: PhaseContext, ask: Inquiry, journal: Journal): PhaseStep | Overdue | undefined => {
  const { id, attempt, startedAt } = context;
  const { func = "", args = {} } = phaseAt(journal, id);
  const found = functionOf(func);
  if (found === undefined) return fail(`function "${func}" does not exist in this version of the controller`);
  // The params are read in any case, so that no value of their Secrets is shown.
  const params = paramsOf(ask, context.actionSet, journal, id);
  if (params === undefined) return undefined;
  const seed = `${journal.seed}/${phaseKey(id.action, id.phase, attempt)}`;
  const kept = recordOf(journal, id)?.args as RenderedObject | undefined;
  const rendered =
    kept === undefined
      ? E.flatMap((data: Data) => renderArgs(found.args, args, data, { now: startedAt, seed }))(params)
      : E.right(kept);
  if (E.isLeft(rendered)) return fail(rendered.left);
  const read = readArgs(found.args, rendered.right);
  if (E.isLeft(read)) return fail(read.left);
  const why = endedBy(journal, context);
  const isLate = id.phase !== "defer" && context.now >= timeLimit(journal);
  if (why === undefined && !isLate) {
    const next = found.step(read.right, context);
    return next.type === "remember" ? { ...next, args: rendered.right } : next;
  }
  const next = mustEnd(journal) && id.phase !== "defer" ? undefined : found.step(read.right, context);
  const last = lastLook(context, next);
  if (last !== undefined) return last;
  if (why === undefined || isLate) return { type: "overdue", ...(next?.type === "wait" && { because: next.because }) };
  return ended(why, next, found.stop?.(read.right, context));
};
