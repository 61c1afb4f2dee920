// The memory of a process of an ActionSet: the object, its journal, and the answers of the API server by name.
import { report } from "@janus/api";
import {
  type ApiError,
  asObject,
  equal,
  type Instant,
  type Json,
  type JsonObject,
  type KubeObject,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ActionSet } from "../api/action-set.ts";
import { SERVICE_ACCOUNT } from "../api/names.ts";
import type { Effect } from "./effect.ts";
import type { ExecOutcome } from "./exec/exec-outcome.ts";
import type { Journal } from "./journal.ts";
import type { LogOutput } from "./log-output.ts";

export type KnownJournal =
  /** removed: by this process, when all was done. */
  | { readonly type: "unread" | "absent" | "removed" }
  | { readonly type: "damaged"; readonly message: string }
  | { readonly type: "read"; readonly journal: Journal; readonly uid: string; readonly resourceVersion: string };

export type Answer = E.Either<ApiError, KubeObject>;

export interface Memory {
  /** The object as last read or written. */
  readonly object: KubeObject;
  /** The object without what cannot be decoded. */
  readonly actionSet: ActionSet;
  /** The reason why it cannot be decoded. */
  readonly problem?: string | undefined;
  readonly journal: KnownJournal;
  /** This process has found out about its journal before: what it reads of it later is no other's. */
  readonly isKnown: boolean;
  /** The status that was written last: with a definition that lacks some of its fields, it is not the one that is read. */
  readonly recorded: JsonObject | undefined;
  /** The time of that write. */
  readonly recordedAt?: Instant;
  /** Answers that are final: transient errors are not. */
  readonly facts: ReadonlyMap<string, Answer>;
  /** The errors because of which requests without an answer are tried again. */
  readonly troubles: ReadonlyMap<string, ApiError>;
  /** The times since which the answers to a request have not fitted it. */
  readonly doubts: ReadonlyMap<string, Instant>;
  /** The times at which watches told of a change, by their numbers: what was read before may be older. */
  readonly changed: ReadonlyMap<number, Instant>;
  /** Logs by phase. */
  readonly logs: ReadonlyMap<string, LogOutput>;
  /** Commands that have ended, by their key. */
  readonly execs: ReadonlyMap<string, ExecOutcome>;
}

/** The part of an ActionSet that the API server ensures. */
export const identified = ({ metadata }: KubeObject): ActionSet => {
  const { name = "", namespace = "", uid = "", resourceVersion = "", deletionTimestamp } = metadata;
  const { finalizers } = metadata;
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
  };
};

/** Decodes all but the spec, which the journal has if it has begun; the state always: one that has ended does not run again. */
const bestEffort = (object: KubeObject): ActionSet => {
  const { state } = asObject(object["status"]);
  const tries = [asObject(object["status"]), typeof state === "string" ? { state } : {}];
  const metadata = asObject(object.metadata);
  const [first = identified(object)] = tries.flatMap((status) => {
    const read = ActionSet.decode({ metadata, status });
    return E.isRight(read) ? [read.right] : [];
  });
  return first;
};

export const withObject = (memory: Memory, object: KubeObject): Memory => {
  const decoded = ActionSet.decode(object);
  return E.isRight(decoded)
    ? { ...memory, object, actionSet: decoded.right, problem: undefined }
    : { ...memory, object, actionSet: bestEffort(object), problem: report(decoded.left) };
};

export const remember = (object: KubeObject): Memory =>
  withObject(
    {
      object,
      actionSet: identified(object),
      journal: { type: "unread" },
      isKnown: false,
      recorded: undefined,
      changed: new Map(),
      facts: new Map(),
      troubles: new Map(),
      doubts: new Map(),
      logs: new Map(),
      execs: new Map(),
    },
    object,
  );

/** The account as which an ActionSet acts, and what it is to do. */
const wishOf = ({ metadata: { labels = {} }, ...object }: KubeObject): Json => [
  (object["spec"] ?? null) as Json,
  labels[SERVICE_ACCOUNT] ?? null,
];

/**
 * Another process, or a user, may have written it: what is known of everything else is as true as before, but for what was read for
 * another spec, or as another ServiceAccount, of one that has not begun.
 */
export const refresh = (memory: Memory, object: KubeObject): Memory => {
  const next = withObject(memory, object);
  return memory.journal.type === "read" || equal(wishOf(memory.object), wishOf(object))
    ? next
    : { ...next, facts: new Map(), troubles: new Map(), doubts: new Map() };
};

/** An event in the life of an ActionSet. */
export type Happened =
  | {
      readonly type: "answered";
      readonly effect: Effect;
      readonly answer: Answer;
      readonly sent: Instant;
      readonly at: Instant;
    }
  /** An object that a phase waits for has changed. */
  | { readonly type: "changed"; readonly index: number; readonly at: Instant }
  | { readonly type: "logged"; readonly phase: string; readonly log: LogOutput }
  | { readonly type: "executed"; readonly key: string; readonly outcome: ExecOutcome };
