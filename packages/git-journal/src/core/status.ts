// Makes the patch of an object's status from what became of the object, and the event that tells of it.
import { asObject, equal, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type Condition, Status } from "../api/status.ts";
import { conditionsOf, type Readiness } from "./conditions.ts";
import { CHECKING, type Told } from "./readiness.ts";

/** An Event about an object. */
export interface StatusEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface StatusChange {
  /** The body of a merge patch of the status. */
  readonly patch: JsonObject;
  readonly events: readonly StatusEvent[];
}

const previousConditions = ({ status }: KubeObject): readonly Condition[] => {
  const decoded = Status.decode(asObject(status));
  return E.isRight(decoded) ? (decoded.right.conditions ?? []) : [];
};

/** The reasons that objects alone decide: they are over when the objects no longer give them. */
const OF_OBJECTS: ReadonlySet<string> = new Set([
  "AccessDenied",
  "BranchNotAllowed",
  "GitDestinationNotFound",
  "GitRepoConfigNotFound",
  "InvalidBaseFolder",
  "InvalidSpec",
  "InvalidURL",
  "NoRules",
  "OwnershipConflict",
]);

/** The reasons that follow from an object to which this one refers. */
const DEPENDENT: ReadonlySet<string> = new Set(["GitDestinationNotReady", "GitRepoConfigNotReady"]);

/** Whether the status of before still counts while servers and branches are asked again, by this process or another. */
const isStillKnown = ({ type, reason }: Readiness, before: readonly Condition[], generation: number): boolean => {
  const ready = before.find((one) => one.type === "Ready");
  if (type !== "progressing" || ready === undefined || ready.observedGeneration !== generation) return false;
  return !OF_OBJECTS.has(ready.reason) && (reason === CHECKING.reason || !DEPENDENT.has(ready.reason));
};

/** Whether a condition has a new cause: while it stays, its words may change, such as those of a server. */
const isNew = (condition: Condition, before: Condition | undefined): boolean =>
  before === undefined ||
  before.status !== condition.status ||
  before.reason !== condition.reason ||
  (before.observedGeneration !== condition.observedGeneration && before.message !== condition.message);

const warningsOf = (conditions: readonly Condition[], before: readonly Condition[]): readonly StatusEvent[] =>
  conditions
    .filter(({ type, status }) => (type === "Ready" && status === "False") || type === "OwnershipConflict")
    .filter((one) =>
      isNew(
        one,
        before.find(({ type }) => type === one.type),
      ),
    )
    .map(({ reason, message }) => ({ type: "Warning", reason, message }));

/**
 * Decides what changes in the status of an object; undefined: nothing, or it is not known yet.
 *
 * Guarantees: called again for the patched object, it says that nothing changes; no warning is repeated while its cause
 *             stays, also by another process.
 *
 * @param now the time, as RFC 3339
 */
export const statusChange = (
  object: KubeObject,
  { observed, readiness, url, report }: Told,
  now: string,
): StatusChange | undefined => {
  const { generation = 0, uid = "" } = object.metadata;
  // The findings of another version say nothing of this one.
  if (observed.uid !== uid || observed.generation !== generation) return undefined;
  const before = previousConditions(object);
  if (isStillKnown(readiness, before, generation)) return undefined;
  const conditions = conditionsOf(readiness, before, { generation, now }, report?.conflict);
  const status = asObject(object["status"]);
  const wanted: JsonObject = {
    observedGeneration: generation,
    ...(url === undefined && status["url"] === undefined ? {} : { url: url ?? null }),
    conditions: conditions.map((one) => ({ ...one })),
    ...(report === undefined
      ? {}
      : {
          objects: report.objects,
          pending: report.pending,
          ...(report.lastCommit === undefined ? {} : { lastCommit: report.lastCommit }),
          ...(report.lastPushTime === undefined ? {} : { lastPushTime: report.lastPushTime }),
        }),
  };
  const changed = Object.fromEntries(Object.entries(wanted).filter(([field, value]) => !equal(status[field], value)));
  if (Object.keys(changed).length === 0) return undefined;
  // The uid keeps the patch from another object of the same name.
  return { patch: { metadata: { uid }, status: changed }, events: warningsOf(conditions, before) };
};

type Pushed = NonNullable<Told["report"]>["pushed"];

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Makes the event of what was pushed since; undefined: nothing was. */
export const pushedEvent = (
  before: Pushed | undefined,
  { pushed, lastCommit }: Pick<NonNullable<Told["report"]>, "pushed" | "lastCommit">,
): StatusEvent | undefined => {
  // A worker that was started anew counts anew.
  const since = before === undefined || before.commits > pushed.commits ? { files: 0, commits: 0 } : before;
  const files = pushed.files - since.files;
  const commits = pushed.commits - since.commits;
  if (commits <= 0) return undefined;
  const last = lastCommit === undefined ? "" : `, the last is ${lastCommit.slice(0, 12)}`;
  return {
    type: "Normal",
    reason: "Pushed",
    message: `pushed ${counted(files, "change")} in ${counted(commits, "commit")}${last}`,
  };
};
