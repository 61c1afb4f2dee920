// Decides what is next for an ActionSet: nil → pending → running → complete or failed.
import { asObject, equal, type Instant, type JsonObject, toTimestamp, without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type ActionSet, ActionSetSpec } from "../api/action-set.ts";
import type { BlueprintAction } from "../api/blueprint.ts";
import { RUNNING } from "../api/names.ts";
import { expiryOf, hasFinalizer, isTerminal, mayHaveJournal } from "./after-end.ts";
import { tooMany } from "./action-problems.ts";
import { artifactsOf } from "./artifacts.ts";
import type { Step, StepEvent } from "./effect.ts";
import type { Journal } from "./journal.ts";
import type { KnownJournal, Memory } from "./memory.ts";
import { orphanedPods } from "./orphaned-pods.ts";
import { blueprintAction, serviceAccountOf } from "./named-objects.ts";
import type { Awaited, Settings } from "./phase-context.ts";
import {
  finalProjection,
  isProjected,
  isSaid,
  pendingAction,
  type Projection,
  projection,
  shortened,
  statusPatch,
} from "./project.ts";
import {
  type Inquiry,
  inquiry,
  createJournal,
  deleteJournal,
  patchOwn,
  readJournal,
  removeOwn,
  writeJournal,
  QUEUE,
} from "./requests.ts";
import { resolve } from "./resolve.ts";
import { eventsBetween, failureOf } from "./phase-events.ts";
import { timeLimit } from "./phase-step.ts";
import { type Advance, advance, leftovers } from "./run.ts";
import { isAllDone, scheduled } from "./schedule.ts";
import { scrubbed, type SecretValues, secretValues, withoutParts } from "./scrub.ts";
import { withStatusApart } from "./status-apart.ts";
import { shortHash } from "./names.ts";

/** The circumstances that matter, and that an ActionSet does not say itself. */
export interface Surroundings {
  readonly settings: Settings;
  /** Tells whether it is its turn, among all that this process executes. */
  readonly mayBegin: (memory: Memory) => boolean;
  /** Tells whether the status of ActionSets is a subresource. */
  readonly isStatusApart: () => boolean;
}

const DONE: Step = { type: "done" };
const untilChanged = (because: string): Step => ({ type: "wait", until: Number.POSITIVE_INFINITY, because });

const withoutFinalizer = ({ metadata: { finalizers = [] } }: ActionSet): JsonObject => ({
  finalizers: finalizers.filter((one) => one !== RUNNING),
});

const release = (actionSet: ActionSet): Step => ({
  type: "run",
  effects: [patchOwn(actionSet, "release", { metadata: withoutFinalizer(actionSet) })],
});

/** Ends it in one write: the status, and the finalizer off. */
const end = (actionSet: ActionSet, projected: Projection, now: Instant, events: readonly StepEvent[]): Step => ({
  type: "run",
  effects: [
    patchOwn(
      actionSet,
      "end",
      { metadata: withoutFinalizer(actionSet), status: statusPatch(actionSet, projected, now) },
      events,
    ),
  ],
});

/** Ends it as failed, with the actions and the progress that its status has. */
const endFailed = (actionSet: ActionSet, message: string, event: StepEvent, now: Instant): Step => {
  const { actions = [], progress } = asObject(actionSet.status);
  const { percentCompleted = "0" } = asObject(progress);
  return end(
    actionSet,
    {
      state: "failed",
      actions: actions as readonly JsonObject[],
      runningPhase: "",
      percentCompleted: percentCompleted as string,
      message,
      reason: "Failed",
      because: message,
    },
    now,
    [event],
  );
};

/** Ends an ActionSet before anything was run, with all problems in one message. */
const refuse = (actionSet: ActionSet, problems: readonly string[], now: Instant): Step => {
  const message = shortened(`nothing was run: ${problems.join("; ")}`);
  return endFailed(actionSet, message, failureOf(actionSet.spec?.actions?.[0], message, "refused"), now);
};

/** The actions of its Blueprints, as far as there are some. Left: too many. Undefined: still to be asked for. */
const wantedActions = (
  ask: Inquiry,
  actionSet: ActionSet,
  { actions = [] }: ActionSetSpec,
): E.Either<string, readonly BlueprintAction[]> | undefined => {
  const found = actions.map((action, at) => blueprintAction(ask, actionSet, action, at));
  if (ask.missing.length > 0) return undefined;
  const wanted = found.map((own) => (own !== undefined && E.isRight(own) ? own.right : {}));
  const problem = tooMany(wanted);
  return problem === undefined ? E.right(wanted) : E.left(problem);
};

const withFinalizer = ({ metadata: { finalizers = [] } }: ActionSet): JsonObject => ({
  finalizers: [...finalizers.filter((one) => one !== RUNNING), RUNNING],
});

/** Takes it up: the finalizer, and all of its phases pending. */
const takeUp = (memory: Memory, actionSet: ActionSet, now: Instant): Step => {
  const { spec } = actionSet;
  if (spec === undefined) return refuse(actionSet, [memory.problem ?? "spec is missing"], now);
  const ask = inquiry(memory);
  const wanted = wantedActions(ask, actionSet, spec);
  if (wanted === undefined) return { type: "run", effects: ask.missing };
  if (E.isLeft(wanted)) return refuse(actionSet, [wanted.left], now);
  const actions = (spec.actions ?? []).map(({ name, object, blueprint }, at) => {
    const subject = { ...(name && { name }), ...(object && { object }), ...(blueprint && { blueprint }) };
    return pendingAction(subject, wanted.right[at] ?? {});
  });
  const projected: Projection = {
    state: "pending",
    actions,
    runningPhase: "",
    percentCompleted: "0",
    reason: "Resolving",
    because: "what the actions need is read",
  };
  return {
    type: "run",
    effects: [
      patchOwn(actionSet, "take-up", {
        metadata: withFinalizer(actionSet),
        // The ActionSet may have been created with the times of another one.
        status: { ...statusPatch({ ...actionSet, status: {} }, projected, now), completionTime: null },
      }),
    ],
  };
};

/** Has an ActionSet wait, since as many others are executed as may be. */
const queue = (memory: Memory, actionSet: ActionSet, now: Instant): Step => {
  const because = "others are executed: it begins when fewer of their actions are left";
  const projected: Projection = {
    state: "pending",
    actions: (asObject(actionSet.status)["actions"] ?? []) as readonly JsonObject[],
    runningPhase: "",
    percentCompleted: "0",
    reason: "Queued",
    because,
  };
  const status = statusPatch(actionSet, projected, now);
  return isProjected(actionSet, status, memory.recorded)
    ? { ...untilChanged(because), isQueued: true }
    : { type: "run", effects: [patchOwn(actionSet, QUEUE, { status })] };
};

/** Reads all that the actions need, and begins, or says all that is wrong. */
const begin = (memory: Memory, actionSet: ActionSet, { settings, mayBegin }: Surroundings, now: Instant): Step => {
  const { uid } = actionSet.metadata;
  if (memory.problem !== undefined) return refuse(actionSet, [memory.problem], now);
  if (!mayBegin(memory)) return queue(memory, actionSet, now);
  const ask = inquiry(memory);
  // Somebody may have created it as one that was taken up.
  const wanted = wantedActions(ask, actionSet, actionSet.spec ?? {});
  if (wanted === undefined) return { type: "run", effects: ask.missing };
  if (E.isLeft(wanted)) return refuse(actionSet, [wanted.left], now);
  const journal = resolve(ask, actionSet, settings, {
    time: new Date(now).toISOString(),
    seed: shortHash(`${settings.seed}/${uid}`),
  });
  if (journal === undefined) return { type: "run", effects: ask.missing };
  if (E.isLeft(journal)) return refuse(actionSet, journal.left, now);
  const started = scheduled(journal.right, now);
  return { type: "run", effects: [createJournal(actionSet, started, eventsBetween(undefined, started))] };
};

const completion = ({ metadata: { name } }: ActionSet, { state }: Projection): readonly StepEvent[] =>
  state === "complete"
    ? [
        {
          type: "Normal",
          reason: "Update Complete",
          message: `Updated ActionSet '${name}' Status->complete`,
          step: "complete",
        },
      ]
    : [];

type ReadJournal = Extract<KnownJournal, { type: "read" }>;

/** Ends an ActionSet whose phases have ended: removes what they have left, and shows the artifacts. */
const finish = (memory: Memory, actionSet: ActionSet, known: ReadJournal, now: Instant): Step => {
  const { journal } = known;
  const removals = leftovers(memory, actionSet, journal);
  if (removals.length > 0) return { type: "run", effects: removals };
  if (actionSet.metadata.deletionTimestamp !== undefined)
    return { type: "run", effects: [deleteJournal(actionSet, known)] };
  const ask = inquiry(memory);
  const artifacts =
    journal.error === undefined ? artifactsOf(ask, actionSet, journal, secretValues(memory)) : E.right([]);
  if (artifacts === undefined) return { type: "run", effects: ask.missing };
  const projected = E.isRight(artifacts)
    ? finalProjection(journal, artifacts.right)
    : finalProjection(journal, [], artifacts.left);
  const failures: readonly StepEvent[] = E.isRight(artifacts)
    ? []
    : [failureOf(journal.spec.actions?.[0], `Failed to render output artifacts: ${artifacts.left}`, "artifacts")];
  return end(actionSet, projected, now, [...failures, ...completion(actionSet, projected)]);
};

const SPEC_IGNORED: StepEvent = {
  type: "Warning",
  reason: "SpecIgnored",
  message: "The spec was edited after the ActionSet had begun: it is executed as it was then",
  step: "spec-ignored",
};

/** The spec without the time to live, which counts after the end. */
const executed = (spec: ActionSetSpec): JsonObject => without(ActionSetSpec.encode(spec), ["ttlSecondsAfterFinished"]);

const isEdited = ({ spec = {} }: ActionSet, journal: Journal): boolean =>
  spec !== journal.spec && !equal(executed(spec), executed(journal.spec));

/** Between writes of the status that say only what phases wait for, in ms. */
const WORDS = 1000;

const scrubbedOf = (awaited: readonly Awaited[], secrets: SecretValues): readonly Awaited[] =>
  awaited.map((one) => ({ ...one, because: withoutParts(scrubbed(one.because, secrets), secrets) }));

/** Waits with all phases: conditions say for what, as soon as they may be written. */
const waiting = (
  memory: Memory,
  actionSet: ActionSet,
  journal: Journal,
  { awaited, wait }: Pick<Advance, "awaited" | "wait">,
  now: Instant,
): Step => {
  // Most have nothing of a Secret.
  if (isSaid(actionSet, journal, awaited)) return wait;
  const shown = scrubbedOf(awaited, secretValues(memory));
  if (isSaid(actionSet, journal, shown)) return wait;
  const next = (memory.recordedAt ?? Number.NEGATIVE_INFINITY) + WORDS;
  if (now < next) return { ...wait, until: Math.min(wait.until, next) };
  const status = statusPatch(actionSet, projection(journal, shown), now);
  return { type: "run", effects: [patchOwn(actionSet, "record", { status })] };
};

const run = (memory: Memory, actionSet: ActionSet, known: ReadJournal, settings: Settings, now: Instant): Step => {
  const { journal } = known;
  const record = (next: Journal, events: readonly StepEvent[] = []): Step => ({
    type: "run",
    effects: [writeJournal(actionSet, known, next, [...events, ...eventsBetween(journal, next)])],
  });
  if (actionSet.metadata.deletionTimestamp !== undefined && journal.deletedAt === undefined)
    return record({ ...journal, deletedAt: toTimestamp(now) });
  const next = advance(memory, actionSet, journal, settings, now);
  if (now >= timeLimit(journal) && !next.isGoing) {
    const { because } = projection(journal, scrubbedOf(next.awaited, secretValues(memory)));
    const error = `the ActionSet was not done within ${journal.spec.timeout ?? ""}: ${because}`;
    return record({ ...journal, timedOutAt: toTimestamp(now), error });
  }
  if (journal.specIgnored !== true && isEdited(actionSet, journal))
    return record({ ...journal, specIgnored: true }, [SPEC_IGNORED]);
  if (next.journal !== journal) return record(next.journal);
  if (isAllDone(journal)) return finish(memory, actionSet, known, now);
  const status = statusPatch(actionSet, projection(journal), now);
  const effects = [
    ...(isProjected(actionSet, status, memory.recorded) ? [] : [patchOwn(actionSet, "record", { status })]),
    ...next.effects,
  ];
  return effects.length > 0 ? { type: "run", effects } : waiting(memory, actionSet, journal, next, now);
};

/** Taken up, and not at its end. */
const proceed = (memory: Memory, actionSet: ActionSet, around: Surroundings, now: Instant): Step => {
  const { journal } = memory;
  const state = actionSet.status?.state;
  const isBegun = state === "running";
  const isDeleted = actionSet.metadata.deletionTimestamp !== undefined;
  switch (journal.type) {
    case "unread":
      return { type: "run", effects: [readJournal(actionSet)] };
    case "read":
      return run(memory, actionSet, journal, around.settings, now);
    case "damaged":
      return endWithout(memory, actionSet, `its journal cannot be read: ${journal.message}`, around.settings, now);
    case "removed":
      return release(actionSet);
    case "absent":
      if (isDeleted && !isBegun) return release(actionSet);
      if (isBegun) return endWithout(memory, actionSet, "its journal is gone", around.settings, now);
      // The finalizer is there, and the status still to come.
      return state === undefined ? takeUp(memory, actionSet, now) : begin(memory, actionSet, around, now);
  }
};

/** Ends an ActionSet whose progress is not known: no Pod of it is left to run on. */
const endWithout = (memory: Memory, actionSet: ActionSet, why: string, settings: Settings, now: Instant): Step => {
  const { effects, problems } = orphanedPods(memory, actionSet, serviceAccountOf(actionSet, settings));
  if (effects.length > 0) return { type: "run", effects };
  if (actionSet.metadata.deletionTimestamp !== undefined) return release(actionSet);
  const message = shortened([why, ...problems].join("; "));
  return endFailed(actionSet, message, failureOf(undefined, message, "journal"), now);
};

const afterEnd = ({ journal }: Memory, actionSet: ActionSet, { defaultTtl }: Settings, now: Instant): Step => {
  if (hasFinalizer(actionSet)) return release(actionSet);
  if (journal.type === "read") return { type: "run", effects: [deleteJournal(actionSet, journal)] };
  if (journal.type === "unread" && mayHaveJournal(actionSet, now))
    return { type: "run", effects: [readJournal(actionSet)] };
  const expiry = expiryOf(actionSet, defaultTtl);
  if (expiry === undefined || actionSet.metadata.deletionTimestamp !== undefined) return untilChanged("it has ended");
  return now < expiry
    ? { type: "wait", until: expiry, because: "it is kept until its ttlSecondsAfterFinished has passed" }
    : { type: "run", effects: [removeOwn(actionSet)] };
};

/** Decides about a running ActionSet without our finalizer: with our journal, somebody has taken it off; else it is another's. */
const found = ({ journal }: Memory, actionSet: ActionSet): Step => {
  if (journal.type === "unread") return { type: "run", effects: [readJournal(actionSet)] };
  if (journal.type === "absent") return untilChanged("another controller runs it, or has left it");
  return { type: "run", effects: [patchOwn(actionSet, "take-up", { metadata: withFinalizer(actionSet) })] };
};

const nextOf = (memory: Memory, now: Instant, around: Surroundings): Step => {
  const { actionSet } = memory;
  const state = actionSet.status?.state;
  if (isTerminal(state)) return afterEnd(memory, actionSet, around.settings, now);
  // Kanister has stopped before it began; or nobody has seen it yet.
  if (!hasFinalizer(actionSet)) {
    if (actionSet.metadata.deletionTimestamp !== undefined) return DONE;
    return state === "running" ? found(memory, actionSet) : takeUp(memory, actionSet, now);
  }
  return proceed(memory, actionSet, around, now);
};

/** Decides what is next. */
export const decide = (memory: Memory, now: Instant, around: Surroundings): Step => {
  const step = nextOf(memory, now, around);
  return around.isStatusApart() ? withStatusApart(step, memory.actionSet) : step;
};
