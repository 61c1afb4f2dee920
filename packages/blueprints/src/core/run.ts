// Executes the phases of a running ActionSet: what each does next, what of that is recorded, and what is told.
import { classify, equal, fromTimestamp, type Instant, isAbsent, type JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet, ActionSpec } from "../api/action-set.ts";
import type { BlueprintPhase } from "../api/blueprint.ts";
import { accountHint } from "./account-hint.ts";
import { type Args, type ArgTable, readArgs, renderArgs } from "./args.ts";
import { rollBack, spentTransactions } from "./atomic/rollback.ts";
import { DEFER_OF_DELETED, retryAt, timeoutOf } from "./bounds.ts";
import type { Effect, Step, StepEvent } from "./effect.ts";
import { functionOf } from "./functions/index.ts";
import type { Journal, PhaseRecord } from "./journal.ts";
import { NO_LOG } from "./log-output.ts";
import type { Memory } from "./memory.ts";
import { phaseKey } from "./names.ts";
import {
  type Awaited,
  indexOf,
  type PhaseContext,
  type PhaseId,
  type PhaseStep,
  type Settings,
} from "./phase-context.ts";
import { paramsOf } from "./params.ts";
import { madePods } from "./pods/parts.ts";
import { type RenderedObject, secretsIn } from "./render-args.ts";
import { get, type Inquiry, inquiry, type ObjectRef, remove } from "./requests.ts";
import { shortened } from "./project.ts";
import type { Data } from "./templates.ts";
import {
  completed,
  failed,
  isStopped,
  mustEnd,
  PENDING,
  recordOf,
  recordsOf,
  retrying,
  running,
  scheduled,
  toBeRetried,
  withRecord,
} from "./schedule.ts";
import { NO_SECRETS, scrubbed, type SecretValues, secretValues, withoutParts } from "./scrub.ts";

export const phaseAt = ({ actions }: Journal, { action, phase }: PhaseId): BlueprintPhase => {
  const blueprint = actions[action]?.blueprint;
  return (phase === "defer" ? blueprint?.deferPhase : blueprint?.phases?.[phase]) ?? {};
};

const instant = (time: string | undefined): Instant => fromTimestamp(time) ?? 0;

/** All that has been learned while it runs. */
type Learned = Pick<Memory, "facts" | "troubles" | "logs" | "execs">;

const NOTHING: Learned = { facts: new Map(), troubles: new Map(), logs: new Map(), execs: new Map() };

const contextOf = (
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
  const timeout = timeoutOf(phase);
  return {
    actionSet,
    serviceAccount: journal.serviceAccount,
    id,
    name: phase.name ?? "",
    attempt: record.attempt,
    seed: journal.seed,
    ...(object === undefined ? {} : { object }),
    ...(profile === undefined ? {} : { profile }),
    startedAt: instant(record.startedAt),
    ...(timeout === undefined ? {} : { timeout }),
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

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** What a phase says before it has asked for anything: so it will when its turn comes, with these arguments. */
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

/** When the phases of an ActionSet must be done. */
export const timeLimit = ({ spec, time }: Journal): Instant =>
  instant(time) + (timeoutOf(spec) ?? Number.POSITIVE_INFINITY);

/** How long a phase may take: what it says, and a deferPhase after a deletion some time in any case. */
const boundOf = (journal: Journal, { id, timeout }: PhaseContext): number =>
  timeout ?? (id.phase === "defer" && journal.deletedAt !== undefined ? DEFER_OF_DELETED : Number.POSITIVE_INFINITY);

/** Since when it is over time, and only what it has come to is looked at. */
const overdueSince = ({ remembered }: PhaseContext): Instant | undefined =>
  fromTimestamp(remembered[OVERDUE] as string | undefined);

const OVERDUE = "overdueSince";

/** How long a result that is there is looked for after that, in ms. */
const LAST_LOOK = 60_000;

const deadlineOf = (journal: Journal, context: PhaseContext): Instant => {
  const since = overdueSince(context);
  return since === undefined ? context.startedAt + boundOf(journal, context) : since + LAST_LOOK;
};

/** Why a phase is ended where it is, and is not done. Undefined: it goes on. */
const endedBy = (journal: Journal, context: PhaseContext): string | undefined => {
  const { id, now } = context;
  if (id.phase !== "defer" && mustEnd(journal))
    return journal.deletedAt === undefined ? journal.error : "the ActionSet was deleted";
  if (now < context.startedAt + boundOf(journal, context)) return undefined;
  return `it was not done within ${phaseAt(journal, id).timeout ?? "10m, since the ActionSet was deleted"}`;
};

/** Whether it changes nothing, and waits for nothing but to be told of what has ended. */
const isLook = (step: PhaseStep): boolean =>
  step.type === "run"
    ? step.effects.every(({ request: { verb } }) => verb === "get" || verb === "list" || verb === "raw")
    : step.type === "wait" && step.isOver === true;

/** Ends a phase where it is: what it has made is found, to be removed. */
const ended = (why: string, next: PhaseStep | undefined, stopping: PhaseStep | undefined): PhaseStep => {
  const last = fail(next?.type === "wait" ? `${why}: ${next.because}` : why);
  return stopping === undefined || stopping.type === "fail" ? last : stopping;
};

/** What is next in one phase: its args are rendered anew, and the same each time. Undefined: what they need is still to be read. */
const stepOf = (context: PhaseContext, ask: Inquiry, journal: Journal): PhaseStep | undefined => {
  const { id, attempt, startedAt } = context;
  const { func = "", args = {} } = phaseAt(journal, id);
  const found = functionOf(func);
  if (found === undefined) return fail(`function "${func}" does not exist in this version of the controller`);
  // Asked for in any case: no value of a Secret that they have is shown.
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
  if (why === undefined) {
    const next = found.step(read.right, context);
    return next.type === "remember" ? { ...next, args: rendered.right } : next;
  }
  // What is done by then is done, though it may be found out only after a restart.
  const next = mustEnd(journal) && id.phase !== "defer" ? undefined : found.step(read.right, context);
  if (next?.type === "end" || next?.type === "fail") return next;
  if (next !== undefined && isLook(next)) {
    const since = overdueSince(context);
    if (since === undefined)
      return {
        type: "remember",
        remembered: { ...context.remembered, [OVERDUE]: new Date(context.now).toISOString() },
      };
    if (context.now < since + LAST_LOOK) return next;
  }
  return ended(why, next, found.stop?.(read.right, context));
};

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Of all outputs together, as JSON, in bytes: they are in the journal. */
const MOST_OUTPUTS = 512 * 1024;

const outputProblem = (journal: Journal): string | undefined => {
  const all = recordsOf(journal).flatMap(({ record: { output, shown } }) => [output ?? [], shown ?? []]);
  const bytes = jsonBytes(all.filter((one) => Object.keys(one).length > 0));
  return bytes > MOST_OUTPUTS
    ? `the outputs of all phases are ${Math.ceil(bytes / 1024)} KiB, 512 KiB is the most`
    : undefined;
};

/** Of a journal as JSON, in bytes: a Secret may have 1 MiB, and each phase that begins takes a little. */
const MOST_JOURNAL = 1_000_000;

const fits = (journal: Journal): boolean => jsonBytes(journal) <= MOST_JOURNAL;

/** Of the arguments of all phases that run: those for which there is no room are rendered again after a restart. */
const MOST_ARGS = 128 * 1024;

const withArgs = (journal: Journal, record: PhaseRecord, args: RenderedObject | undefined): PhaseRecord => {
  if (args === undefined || record.args !== undefined) return record;
  const all = recordsOf(journal).flatMap(({ record: other }) => other.args ?? []);
  return jsonBytes([...all, args]) > MOST_ARGS ? record : { ...record, args: args as unknown as JsonObject };
};

/** Without what matters only while it runs. */
const settled = (record: PhaseRecord): PhaseRecord => {
  const { seen, args, ...others } = record;
  return seen === undefined && args === undefined ? record : others;
};

/** Without what phases that run may do without, as a rule: it can be read and rendered again. */
const forgotten = (journal: Journal): Journal =>
  running(journal).reduce((all, id) => {
    const record = recordOf(all, id);
    return record === undefined ? all : withRecord(all, id, settled(record));
  }, journal);

/** The first of these that there is room for, else the last one. */
const fitting = (journal: Journal, ...others: readonly (() => Journal)[]): Journal =>
  others.reduce((chosen, other) => (fits(chosen) ? chosen : other()), journal);

/** Returns the journal after what a phase has come to; messages and outputs that are shown have no values of Secrets. */
const applied = (journal: Journal, context: PhaseContext, step: PhaseStep, secrets: SecretValues): Journal => {
  const { id, mayRerun, now } = context;
  const record = recordOf(journal, id);
  if (record === undefined) return journal;
  switch (step.type) {
    case "remember": {
      const next = { ...record, remembered: step.remembered };
      return fitting(withRecord(journal, id, withArgs(journal, next, step.args)), () => withRecord(journal, id, next));
    }
    case "end": {
      const shown = Object.fromEntries(
        Object.entries(step.output).map((one) => one.map((text) => scrubbed(text, secrets)) as [string, string]),
      );
      const after = withRecord(journal, id, completed(settled(record), step.output, shown, now));
      const problem = outputProblem(after);
      return problem === undefined
        ? fitting(
            after,
            () => forgotten(after),
            () => applied(journal, context, fail("there is no room for its outputs in the journal"), secrets),
          )
        : applied(journal, context, fail(problem), secrets);
    }
    case "fail": {
      const what = id.phase === "defer" ? "deferPhase" : "phase";
      const why = withoutParts(shortened(scrubbed(step.message, secrets)), secrets);
      const { actionSet, serviceAccount } = context;
      const hint = accountHint(step.message, { ...actionSet, spec: journal.spec }, serviceAccount) ?? [];
      const told = `${what} ${phaseAt(journal, id).name ?? ""}: ${[why, hint].flat().join("; ")}`;
      const message = shortened(told.toWellFormed());
      const isRerun = mayRerun && step.isInterrupted === true && step.isFinal !== true;
      const isLast = id.phase === "defer" ? journal.deletedAt !== undefined && !isRerun : isStopped(journal);
      const at = isLast ? undefined : retryAt(phaseAt(journal, id), record.attempt, isRerun, now);
      const failing = (shown: string): Journal => {
        const failure = { ...step, message: shown };
        if (at !== undefined) return withRecord(journal, id, toBeRetried(settled(record), failure, at));
        const after = withRecord(journal, id, failed(settled(record), failure, now));
        return id.phase === "defer" || after.error !== undefined ? after : { ...after, error: shown };
      };
      const after = failing(message);
      return fitting(
        after,
        () => forgotten(after),
        () => forgotten(failing(shortened(message, 256))),
      );
    }
    case "wait": {
      const { seen } = step;
      if (seen === undefined || equal(seen, record.seen ?? {})) return journal;
      return fitting(withRecord(journal, id, { ...record, seen }), () => journal);
    }
    case "run":
      return journal;
  }
};

const idText = ({ action, phase }: PhaseId): string => `${action}/${phase}`;

/** Warns of the failure of an action, on its Blueprint, too. */
export const failureOf = (action: ActionSpec | undefined, message: string, step: string): StepEvent => ({
  type: "Warning",
  reason: `ActionSetFailed Action: ${action?.name ?? ""}`,
  message,
  step,
  ...(action?.blueprint === undefined ? {} : { blueprint: action.blueprint }),
});

/** Tells of outputs that are not shown as they are. */
const redaction = ({ output = {}, shown }: PhaseRecord, phase: string, step: string): readonly StepEvent[] => {
  if (shown === undefined) return [];
  const keys = Object.keys(shown).filter((key) => output[key] !== shown[key]);
  const message = `phase ${phase}: ${keys.join(", ")}: an output has the value of a Secret, and is shown as ***; later phases have it`;
  return [{ type: "Warning", reason: "SecretRedacted", message, step: `${step}/redacted` }];
};

/** Tells what has become of what a phase had changed. */
const rollbackEvents = (
  { rollback, attempt }: PhaseRecord,
  phase: string,
  id: string,
  action: ActionSpec | undefined,
): readonly StepEvent[] => {
  const step = `${id}/rolled-back/${attempt}`;
  if (rollback?.state === "done")
    return [{ type: "Normal", reason: "Rolled Back Phase", message: `Rolled back phase ${phase}`, step, phase }];
  if (rollback?.state !== "incomplete") return [];
  return [{ ...failureOf(action, `Failed to roll back phase ${phase}: ${rollback.message ?? ""}`, step), phase }];
};

/** Kanister's events for what is different in the later journal. */
export const eventsBetween = (before: Journal | undefined, after: Journal): readonly StepEvent[] =>
  after.actions.flatMap(({ phases, deferPhase }, action): readonly StepEvent[] => {
    const name = after.spec.actions?.[action]?.name ?? "";
    const hadBegun = before?.actions[action]?.phases.some(({ state }) => state !== "pending") === true;
    const hasBegun = phases.some(({ state }) => state !== "pending");
    const isComplete = (journal: Journal | undefined): boolean => {
      const own = journal?.actions[action];
      return (
        own !== undefined &&
        own.phases.every(({ state }) => state === "complete") &&
        (own.deferPhase === undefined || own.deferPhase.state === "complete")
      );
    };
    const of = (record: PhaseRecord, phase: number | "defer"): readonly StepEvent[] => {
      const id = { action, phase };
      const was = before === undefined ? undefined : recordOf(before, id);
      const shown = phaseAt(after, id).name ?? "";
      if (was !== undefined && record.rollback !== undefined && record.rollback.state !== was.rollback?.state)
        return rollbackEvents(record, shown, idText(id), after.spec.actions?.[action]);
      if (was?.state === record.state) return [];
      const [started, ended, what] =
        phase === "defer"
          ? ["Started deferPhase", "Ended deferPhase", "deferPhase"]
          : ["Started Phase", "Ended Phase", "phase"];
      const step = `${idText(id)}/${record.state}`;
      if (record.state === "running")
        return [{ type: "Normal", reason: started, message: `Executing ${what} ${shown}`, step, phase: shown }];
      if (record.state === "complete")
        return [
          { type: "Normal", reason: ended, message: `Completed ${what} ${shown}`, step, phase: shown },
          ...redaction(record, shown, step),
        ];
      const cause = (record.message ?? "").replace(/^(deferPhase|phase) [^:]*: /u, "");
      if (record.state === "retrying")
        return [
          {
            type: "Warning",
            reason: "Retrying Phase",
            message: `Phase ${shown} has failed, and is executed again at ${record.retryAt ?? ""}: ${cause}`,
            step: `${step}/${record.attempt}`,
            phase: shown,
          },
        ];
      if (record.state !== "failed") return [];
      return [
        {
          ...failureOf(after.spec.actions?.[action], `Failed to execute ${what} ${shown}: ${cause}`, step),
          phase: shown,
        },
      ];
    };
    return [
      ...(hasBegun && !hadBegun
        ? [
            {
              type: "Normal" as const,
              reason: "Started Action",
              message: `Executing action ${name}`,
              step: `${action}/started`,
            },
          ]
        : []),
      ...phases.flatMap(of),
      ...(deferPhase === undefined ? [] : of(deferPhase, "defer")),
      ...(isComplete(after) && !isComplete(before)
        ? [
            {
              type: "Normal" as const,
              reason: "Ended Action",
              message: `Completed action ${name}`,
              step: `${action}/ended`,
            },
          ]
        : []),
    ];
  });

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

/** What all running phases come to. */
export interface Advance {
  /** With all that is to be recorded now. */
  readonly journal: Journal;
  readonly effects: readonly Effect[];
  /** What is waited for when nothing else is to be done. */
  readonly wait: Extract<Step, { readonly type: "wait" }>;
  /** What each phase waits for, as its function says it: it may have values of Secrets. */
  readonly awaited: readonly Awaited[];
}

/** What is next in all running phases, side by side. */
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
  const known = steps.flatMap(({ id, context, step }) => (step === undefined ? [] : [{ id, context, step }]));
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
    journal: scheduled(rolling.journal, now, removals.length === 0),
    effects: [...removals, ...ask.missing, ...effects, ...rolling.effects],
    wait: {
      type: "wait",
      until: Math.min(
        isStopped(journal) ? Number.POSITIVE_INFINITY : timeLimit(journal),
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
    awaited: waits.map(({ id, because }) => ({ ...id, because })),
  };
};
