// The status of an ActionSet: a projection of its journal, with Kanister's fields.
import { asObject, equal, type Instant, type JsonObject, toTimestamp, without } from "@janus/types";
import { type ActionSet, ActionSetStatus, type Condition, type PhaseStatus } from "../api/action-set.ts";
import type { Artifact, BlueprintAction, BlueprintPhase } from "../api/blueprint.ts";
import type { Journal, PhaseRecord } from "./journal.ts";
import { rollbackText } from "./atomic/rollback.ts";
import type { Awaited, PhaseId } from "./phase-context.ts";
import { isStopped, isToBeRolledBack, recordsOf, retrying, running } from "./schedule.ts";

/** The states that an ActionSet is about to be in: Kanister has no others. */
export type State = "pending" | "running" | "complete" | "failed";

const inSeconds = (time: string | undefined): string | undefined => time && `${time.slice(0, 19)}Z`;

const lastTransition = (records: readonly PhaseRecord[]): string | undefined =>
  inSeconds(
    records
      .flatMap(({ startedAt, endedAt }) => [startedAt, endedAt])
      .filter((time) => time !== undefined)
      .toSorted()
      .at(-1),
  );

const phaseStatus = (phase: BlueprintPhase | undefined, record: PhaseRecord): PhaseStatus => {
  const { state } = record;
  const output = record.shown ?? record.output;
  const at = lastTransition([record]);
  return {
    name: phase?.name ?? "",
    state: state === "retrying" ? "running" : state,
    ...(record.attempt > 1 ? { attempts: record.attempt } : {}),
    ...(output === undefined ? {} : { output }),
    progress: {
      progressPercent: state === "complete" ? "100" : "0",
      ...(at === undefined ? {} : { lastTransitionTime: at }),
    },
  };
};

const pendingPhase = ({ name = "" }: BlueprintPhase): JsonObject => ({ name, state: "pending" });

/** An action that has just been taken up: all of its phases are pending. */
export const pendingAction = (
  { name, object, blueprint }: { readonly name?: string; readonly object?: object; readonly blueprint?: string },
  { phases = [], deferPhase }: BlueprintAction,
): JsonObject => {
  return {
    ...(name === undefined ? {} : { name }),
    ...(object === undefined ? {} : { object: object as JsonObject }),
    ...(blueprint === undefined ? {} : { blueprint }),
    phases: phases.map(pendingPhase),
    ...(deferPhase === undefined ? {} : { deferPhase: pendingPhase(deferPhase) }),
  };
};

const percent = ({ actions }: Journal): string => {
  const phases = actions.flatMap((action) => action.phases);
  const done = phases.filter(({ state }) => state === "complete").length;
  return phases.length === 0 ? "0" : `${Math.floor((100 * done) / phases.length)}`;
};

const nameOf = ({ actions }: Journal, action: number, phase: number | "defer"): string => {
  const blueprint = actions[action]?.blueprint;
  return (phase === "defer" ? blueprint?.deferPhase : blueprint?.phases?.[phase])?.name ?? "";
};

/** The most bytes of what it says of rollbacks. */
const MOST_ROLLBACKS = 2048;

/** The failures that the message names: that of a phase, and those of the deferPhases; and what of it is rolled back, whatever it is long. */
export const messageOf = (journal: Journal): string | undefined => {
  const deferred = journal.actions.flatMap(({ deferPhase }) => deferPhase?.message ?? []);
  const messages = [
    ...(journal.error === undefined ? [] : [journal.error]),
    ...deferred.filter((one) => one !== journal.error),
  ];
  const rollbacks = rollbackText(journal);
  if (rollbacks === undefined) return messages.length === 0 ? undefined : shortened(messages.join("; "));
  const last = shortened(rollbacks, MOST_ROLLBACKS);
  const first = shortened(messages.join("; "), MOST_MESSAGE - MOST_ROLLBACKS - 2);
  return first === "" ? last : `${first}; ${last}`;
};

/** The most bytes of a message. */
const MOST_MESSAGE = 4096;

export const shortened = (text: string, most: number = MOST_MESSAGE): string =>
  Buffer.byteLength(text) <= most
    ? text
    : `${Buffer.from(text)
        .subarray(0, most - 4)
        .toString()
        .replace(/\uFFFD+$/u, "")}…`;

const condition = (
  type: string,
  is: boolean,
  reason: string,
  message: string,
): Omit<Condition, "lastTransitionTime"> => ({
  type,
  status: is ? "True" : "False",
  reason,
  message,
});

/** Makes the conditions that `kstatus` reads: Ready, Reconciling and Stalled. */
const conditionsOf = (
  state: State,
  reason: string,
  message: string,
): readonly Omit<Condition, "lastTransitionTime">[] => [
  condition("Ready", state === "complete", state === "complete" ? "Complete" : reason, message),
  condition("Reconciling", state === "pending" || state === "running", reason, message),
  condition("Stalled", state === "failed", state === "failed" ? "Failed" : reason, message),
];

const withTimes = (
  conditions: readonly Omit<Condition, "lastTransitionTime">[],
  before: readonly Condition[],
  now: Instant,
): readonly Condition[] =>
  conditions.map((one) => {
    const was = before.find(({ type }) => type === one.type);
    const since = was?.status === one.status ? was?.lastTransitionTime : undefined;
    return { ...one, lastTransitionTime: since ?? toTimestamp(now) };
  });

export interface Projection {
  readonly state: State;
  readonly actions: readonly JsonObject[];
  readonly runningPhase: string;
  readonly percentCompleted: string;
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason: string;
  readonly because: string;
}

/** The status with these contents, as a merge patch: nothing is left of fields that it does not have. */
export const statusPatch = ({ status = {} }: ActionSet, projected: Projection, now: Instant): JsonObject => {
  const { state, actions, runningPhase, percentCompleted, lastTransitionTime, message, reason, because } = projected;
  const isEnd = state === "complete" || state === "failed";
  return {
    state,
    actions,
    error: message === undefined ? null : { message },
    progress: {
      runningPhase,
      percentCompleted,
      ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    },
    conditions: withTimes(conditionsOf(state, reason, because), status.conditions ?? [], now),
    startTime: status.startTime ?? toTimestamp(now),
    ...(isEnd ? { completionTime: status.completionTime ?? toTimestamp(now) } : {}),
  };
};

/** Drops the words of conditions, and the times that say only since when it is so. */
const substance = (status: JsonObject): JsonObject => {
  const { conditions, startTime: _, completionTime: __, ...others } = status;
  const all = Array.isArray(conditions) ? (conditions as readonly JsonObject[]) : [];
  return { ...others, conditions: all.map((one) => without(one, ["lastTransitionTime", "message"])) };
};

const isSame = (stored: JsonObject, patch: JsonObject): boolean =>
  Object.entries(substance(patch)).every(([name, value]) =>
    value === null ? (stored[name] ?? null) === null : equal(substance(stored)[name], value),
  );

/**
 * Tells whether the status says so already but for the words of its conditions, as far as its definition has room for it.
 *
 * @param recorded what was written last
 */
export const isProjected = ({ status }: ActionSet, patch: JsonObject, recorded: JsonObject | undefined): boolean =>
  isSame(asObject(status === undefined ? {} : ActionSetStatus.encode(status)), patch) ||
  (recorded !== undefined && isSame(recorded, patch));

/** The most characters of what one phase waits for. */
const MOST_WORDS = 500;

const brief = (text: string): string =>
  text.length <= MOST_WORDS ? text : `${text.slice(0, MOST_WORDS).toWellFormed()}…`;

const progressOf = (
  journal: Journal,
  awaited: readonly Awaited[],
): Pick<Projection, "reason" | "because" | "runningPhase"> => {
  const retries = retrying(journal);
  const active = [...running(journal), ...retries].toSorted((a, b) => a.action - b.action);
  const names = active.map(({ action, phase }) => nameOf(journal, action, phase));
  const isDeferring = active.some(({ phase }) => phase === "defer");
  const reason = journal.deletedAt !== undefined ? "Deleting" : isDeferring ? "Deferring" : "RunningPhases";
  const again = retries.map(({ at, why }) => `at ${toTimestamp(at)} again, since ${why}`);
  const undone = recordsOf(journal).filter(({ record }) => isToBeRolledBack(journal, record));
  const undoing = undone.map(({ action, phase }) => nameOf(journal, action, phase));
  const isUndoing = undoing.length > 0 && journal.deletedAt === undefined;
  const isAwaiting = (id: PhaseId): boolean =>
    awaited.some(({ action, phase }) => action === id.action && phase === id.phase);
  const others = active.filter((id) => !isAwaiting(id)).map(({ action, phase }) => nameOf(journal, action, phase));
  const doing = [
    ...awaited.map(
      ({ action, phase, because }) =>
        `${phase === "defer" ? "deferPhase" : "phase"} ${nameOf(journal, action, phase)}: ${brief(because)}`,
    ),
    ...(others.length === 0 ? [] : [`executing ${others.join(", ")}`]),
    ...(undoing.length === 0 ? [] : [`rolling back ${undoing.toReversed().join(", ")}`]),
  ];
  return {
    runningPhase: names.join(", "),
    reason: isUndoing ? "RollingBack" : active.length > 0 && active.length === retries.length ? "Retrying" : reason,
    because: shortened([...(doing.length === 0 ? ["between phases"] : doing), ...again].join("; ")),
  };
};

/** Tells whether its conditions say already what these phases wait for, or its definition has no room for conditions. */
export const isSaid = ({ status }: ActionSet, journal: Journal, awaited: readonly Awaited[]): boolean => {
  const { because } = progressOf(journal, awaited);
  return status?.conditions?.every(({ message }) => message === because) ?? true;
};

const actionStatus = (
  { spec: { actions: specs = [] }, actions }: Journal,
  artifacts: readonly (Readonly<Record<string, Artifact>> | undefined)[],
): readonly JsonObject[] =>
  actions.map((action, at): JsonObject => {
    const { name, object, blueprint } = specs[at] ?? {};
    const { phases, deferPhase } = action;
    const rendered = artifacts[at];
    return {
      ...pendingAction(
        { ...(name && { name }), ...(object && { object }), ...(blueprint && { blueprint }) },
        action.blueprint,
      ),
      phases: phases.map(
        (record, phase) => phaseStatus(action.blueprint.phases?.[phase], record) as unknown as JsonObject,
      ),
      ...(deferPhase === undefined ? {} : { deferPhase: phaseStatus(action.blueprint.deferPhase, deferPhase) }),
      ...(rendered === undefined || Object.keys(rendered).length === 0 ? {} : { artifacts: rendered }),
    };
  });

/** While it is running. @param awaited what phases wait for, as it may be shown */
export const projection = (journal: Journal, awaited: readonly Awaited[] = []): Projection => ({
  state: "running",
  actions: actionStatus(journal, []),
  percentCompleted: percent(journal),
  lastTransitionTime: lastTransition(recordsOf(journal).map(({ record }) => record)),
  message: messageOf(journal),
  ...progressOf(journal, awaited),
});

/** Projects a journal in the end. @param problem why the artifacts cannot be rendered */
export const finalProjection = (
  journal: Journal,
  artifacts: readonly (Readonly<Record<string, Artifact>> | undefined)[],
  problem?: string,
): Projection => {
  const message = messageOf(journal) ?? problem;
  const hasFailed = message !== undefined || isStopped(journal);
  return {
    ...projection(journal),
    state: hasFailed ? "failed" : "complete",
    actions: actionStatus(journal, hasFailed ? [] : artifacts),
    runningPhase: "",
    percentCompleted: hasFailed ? percent(journal) : "100",
    message,
    reason: hasFailed ? "Failed" : "Complete",
    because: message ?? "all actions are complete",
  };
};
