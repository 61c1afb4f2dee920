// The journal of an ActionSet: what it does, copied when it begins, and how far it is. It decides; the status is its projection.
import { boolean, excerpt, integer, list, openObject, optional, string, strings, type TypeOf } from "@janus/api/codec";
import { report } from "@janus/api";
import { asObject, type Json, type KubeObject, member } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ActionSetSpec } from "../api/action-set.ts";
import { BlueprintAction } from "../api/blueprint.ts";
import { mapOf } from "../api/map-of.ts";

/** The format that this version writes, and the latest that it reads. */
const FORMAT = 1;

/**
 * state: pending, running, retrying (it has failed, and is executed again), complete or failed. attempt: from 1, the last that has
 * begun. Times: RFC 3339.
 */
const PhaseRecord = excerpt({
  state: string(),
  attempt: integer,
  startedAt: optional(string()),
  endedAt: optional(string()),
  /** Facts that the function must know after a restart, such as the uid of its Pod. */
  remembered: optional(openObject({})),
  /** The arguments as they were rendered: a restart has the same, whatever has become of what they were made from. */
  args: optional(openObject({})),
  output: optional(strings),
  /** The same without values of Secrets, where it has some: for the status. */
  shown: optional(strings),
  /** Outputs that its log had so far: a kubelet keeps only the end of a long log. */
  seen: optional(strings),
  /** The reason why it failed. */
  message: optional(string()),
  /**
   * The fate of its Transaction once that was to be rolled back. state: withdrawing (it was not published, and is about to be
   * deleted), done, nothing (it had changed nothing) or incomplete, with the reason.
   */
  rollback: optional(excerpt({ state: string(), message: optional(string()) })),
  /** The time at which its next attempt begins. */
  retryAt: optional(string()),
  /** Whether its result is lost: nobody knows what it has done. */
  isInterrupted: optional(boolean),
});
export type PhaseRecord = TypeOf<typeof PhaseRecord>;

const ActionRecord = excerpt({
  /** The action of the Blueprint as it was at the start: later edits do not matter. */
  blueprint: BlueprintAction,
  phases: list(PhaseRecord, { atomic: true }),
  deferPhase: optional(PhaseRecord),
  /** The object of the action as it was at the start, but for a Secret. */
  object: optional(openObject({})),
  /** Pods, containers and claims of the workload, as templates see them. */
  workload: optional(openObject({})),
  configMaps: mapOf(openObject({})),
});
export type ActionRecord = TypeOf<typeof ActionRecord>;

export const Journal = excerpt({
  version: integer,
  serviceAccount: string(),
  /** `.Time` of templates. */
  time: string(),
  /** The seed of what templates generate at random: a restart generates the same. */
  seed: string(),
  spec: ActionSetSpec,
  actions: list(ActionRecord, { atomic: true }),
  /** The first failure, because of which no further phase begins. */
  error: optional(string()),
  /** The time at which the ActionSet was seen to be deleted: no further phase begins, and those that run are ended. */
  deletedAt: optional(string()),
  /** The time at which its timeout had passed, with the same effect. */
  timedOutAt: optional(string()),
  /** Somebody has edited the spec since the start, and was told that it is too late. */
  specIgnored: optional(boolean),
});
export type Journal = TypeOf<typeof Journal>;

export const newJournal = (fields: Omit<Journal, "version">): Journal => ({ version: FORMAT, ...fields });

const KEY = "journal";

/** The data of the Secret. */
export const encodeJournal = (journal: Journal): Readonly<Record<string, string>> => ({
  [KEY]: Buffer.from(JSON.stringify(Journal.encode(journal))).toString("base64"),
});

const parsed = (text: string): E.Either<string, Json> =>
  E.tryCatch(
    () => JSON.parse(text) as Json,
    () => "it is no JSON",
  );

/** Reads the journal in a Secret. Left: why it cannot be read. */
export const decodeJournal = (secret: KubeObject): E.Either<string, Journal> => {
  const data = member(asObject(secret["data"]), KEY);
  if (typeof data !== "string") return E.left("it is empty");
  return E.flatMap(parsed(Buffer.from(data, "base64").toString()), (json) =>
    E.flatMap(E.mapLeft(report)(Journal.decode(json)), (journal) =>
      journal.version > FORMAT ? E.left("a later version of the controller has written it") : E.right(journal),
    ),
  );
};
