// The interface of functions: what one is given of the phase that it executes, and what it says in return.
import type { ApiError, Instant, JsonObject, KubeObject } from "@janus/types";
import type { ActionSet } from "../api/action-set.ts";
import { MADE_BY } from "../api/names.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import type { Args, ArgTable } from "./args.ts";
import type { Effect, ExecSource, LogSource } from "./effect.ts";
import type { ExecOutcome } from "./exec/exec-outcome.ts";
import type { LogOutput } from "./log-output.ts";
import type { Answer } from "./memory.ts";
import { attemptOf, phaseKey } from "./names.ts";
import type { RenderedObject } from "./render-args.ts";
import type { Inquiry, ObjectRef } from "./requests.ts";

/** The fact of the object that a phase waits for: it is forgotten, and so read again, when a watch tells of a change. */
export const WATCHED = "watched";

/** The fact of one of several objects that a phase waits for. */
export const watchedAt = (at: number): string => `${at}/${WATCHED}`;

/** An object that is waited for, as it was read. */
export interface WatchedObject {
  readonly ref: ObjectRef;
  /** The version; undefined: the object does not exist. */
  readonly resourceVersion: string | undefined;
}

/** The place of a phase in an ActionSet. */
export interface PhaseId {
  readonly action: number;
  readonly phase: number | "defer";
}

/** The wait of a phase, in words. */
export type Awaited = PhaseId & { readonly because: string };

const DEFER = 999;

/** The most objects that a phase waits for. */
export const MOST_WATCHED = 1000;

const numberOf = ({ action, phase }: PhaseId): number => action * 1000 + (phase === "defer" ? DEFER : phase);

/** The number by which a watch knows the `at`th object that a phase waits for. */
export const indexOf = (id: PhaseId, at: number): number => numberOf(id) * MOST_WATCHED + at;

/** Tells whether a fact is about objects of the phase that waits for this one. */
export const isWatchedFact = (fact: string, index: number): boolean => {
  if (!fact.endsWith(`/${WATCHED}`)) return false;
  const [, action, phase] = fact.split("/");
  const id: PhaseId = { action: Number(action), phase: phase === "defer" ? "defer" : Number(phase) };
  return numberOf(id) === Math.floor(index / MOST_WATCHED);
};

export interface Settings {
  /** The ServiceAccount of ActionSets that name none. */
  readonly defaultServiceAccount: string;
  /** Seconds after which finished ActionSets without artifacts are deleted that have no such field or label. Absent: they are kept. */
  readonly defaultTtl?: number | undefined;
  /** The image of Pods that move data: with restic and kando. */
  readonly toolsImage: string;
  /** The time that a Pod may take until it runs, in ms. */
  readonly podReadyTimeout: number;
  /** Unknown to others: what templates generate at random depends on it. */
  readonly seed: string;
  /** The name of this process as long as it leads: what another one has begun may be half done. */
  readonly process: string;
}

export interface PhaseContext {
  readonly actionSet: ActionSet;
  readonly serviceAccount: string;
  readonly id: PhaseId;
  readonly name: string;
  readonly attempt: number;
  /** The number of the Pod that this is about, if it has several: see {@link partOf}. */
  readonly part?: number;
  /** The seed of what is chosen at random, names included. Unknown to others. */
  readonly seed: string;
  /** The object of the action. */
  readonly object?: ObjectReference;
  /** The Profile of the action. */
  readonly profile?: ObjectReference;
  readonly startedAt: Instant;
  /** The time that this attempt may take by its own timeout, in ms. */
  readonly timeout?: number;
  /** The time that it may take, also by the timeout of its ActionSet, in ms. */
  readonly allowed?: number;
  /** Whether its changes are made in a Transaction. */
  readonly isAtomic: boolean;
  /** A command that may have been executed, and nobody can tell, is executed again. */
  readonly mayRerun: boolean;
  readonly now: Instant;
  readonly settings: Settings;
  readonly remembered: JsonObject;
  readonly log: LogOutput;
  /** The log of one of its Pods, if it has several. */
  readonly logOf: (part: number) => LogOutput;
  /** Outputs that the log had before, and may have lost by now. */
  readonly seen: Readonly<Record<string, string>>;
  /** Pods, containers and claims of the object, if it is a workload. */
  readonly workload: JsonObject;
  /** Merged into Pods: of the action of the ActionSet. */
  readonly pod: {
    readonly override: JsonObject;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  /** The answer of this name, of this attempt. */
  readonly fact: (name: string) => Answer | undefined;
  /** The reason why there is no answer of this name yet, if it was asked for. */
  readonly trouble: (name: string) => ApiError | undefined;
  /** The outcome of a command, by its key. */
  readonly executed: (key: string) => ExecOutcome | undefined;
}

/** The annotation of all that this attempt makes. */
export const madeBy = ({ actionSet, id, name, attempt }: PhaseContext): string =>
  attemptOf(actionSet.metadata.uid, id.action, name, attempt);

/** The beginning of the annotation of all that a phase makes, without the attempt. */
export const phaseOf = (context: PhaseContext): string => madeBy(context).slice(0, -`${context.attempt}`.length);

/** Tells whether this phase has made it, in this attempt or an earlier one: for objects whose names others may choose, too. */
export const isOfPhase = (context: PhaseContext, { metadata: { annotations = {} } }: KubeObject): boolean => {
  const [mark = "", phase] = [annotations[MADE_BY], phaseOf(context)];
  // The name of another phase may begin as this one does with its attempt.
  return mark.startsWith(phase) && /^\d+$/u.test(mark.slice(phase.length));
};

export const keyOf = ({ id, attempt, part }: Pick<PhaseContext, "id" | "attempt" | "part">): string =>
  phaseKey(id.action, id.phase, attempt, part);

/** The name under which an answer is remembered for a phase. */
export const factOf = (context: PhaseContext, name: string): string => `${keyOf(context)}/${name}`;

/** Asks for answers of this attempt. Those that are not known yet are collected, to be asked for side by side. */
export const inquiryOf = (context: PhaseContext): Inquiry => {
  const missing: Effect[] = [];
  return {
    missing,
    ask: (effect) => {
      const answer = context.fact(effect.fact);
      if (answer === undefined) missing.push({ ...effect, fact: factOf(context, effect.fact) });
      return answer;
    },
  };
};

/** The next step of a phase. */
export type PhaseStep =
  | { readonly type: "run"; readonly effects: readonly Effect[] }
  /** Records facts for after a restart. args: the arguments as they were rendered, to be kept with them. */
  | { readonly type: "remember"; readonly remembered: JsonObject; readonly args?: RenderedObject }
  | {
      readonly type: "wait";
      readonly until: Instant;
      readonly because: string;
      /** Whether the awaited has ended, and only its result is still to be read. */
      readonly isOver?: true;
      readonly watched?: readonly WatchedObject[];
      readonly follow?: readonly LogSource[];
      readonly execs?: readonly ExecSource[];
      /** The outputs so far. */
      readonly seen?: Readonly<Record<string, string>>;
    }
  | { readonly type: "end"; readonly output: Readonly<Record<string, string>> }
  /** isInterrupted: its result is lost, so that nobody knows what it has done. isFinal: it is not run again for that. */
  | { readonly type: "fail"; readonly message: string; readonly isInterrupted?: true; readonly isFinal?: true };

/** A permission that a phase needs. */
export interface Access {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace: string;
  /** The name of the only object, if it is known: a Role may be for that one alone. */
  readonly name?: string;
}

/** Objects that an argument names, and what is done to them. */
export interface NamedObjects {
  readonly verbs: readonly string[];
  /** The argument, such as `args.objectReference`. */
  readonly at: string;
  /** The objects as they are written, with templates; or words for them, with why they are not known. */
  readonly objects: ObjectReference | string;
  /** The namespace for a reference without one; "": the object is in none. Absent: only the API server knows. */
  readonly namespace?: string | undefined;
}

/** A function of Kanister: data, and one pure function. */
export interface KanisterFunction<T extends ArgTable = ArgTable> {
  readonly about: string;
  readonly args: T;
  readonly outputs: string;
  /** Arguments whose parts that depend on Secrets go to a Secret beside its Pod. */
  readonly concealed?: readonly (keyof T & string)[];
  /** The permissions that it needs, as far as the namespaces are known before it starts. @param object that of the action */
  readonly access: (args: Partial<Args<T>>, namespace: string, object?: ObjectReference) => readonly Access[];
  /** Whether it reads the Profile of the action itself, whatever its arguments are. */
  readonly readsProfile?: true;
  /**
   * The objects that its arguments name, of those permissions that `access` does not know.
   *
   * @param args as they are written; isAtomic: it changes them in a Transaction
   */
  readonly named?: (args: JsonObject, isAtomic: boolean) => readonly NamedObjects[];
  /** Says what is wrong with args before they are rendered, beyond names, required ones and templates. */
  readonly problems?: (args: JsonObject) => readonly string[];
  /** The needs of a function that changes objects in a Transaction. Absent: it does the same in an atomic action. */
  readonly atomic?: {
    /** The permissions in place of the others, beside those on Transactions. */
    readonly access: (args: Partial<Args<T>>, namespace: string, object?: ObjectReference) => readonly Access[];
    /** Names what no Transaction can do or undo, as far as the arguments are known before it starts. */
    readonly problems: (args: Partial<Args<T>>) => readonly string[];
  };
  readonly step: (args: Args<T>, context: PhaseContext) => PhaseStep;
  /** Steps in place of `step` once the ActionSet is deleted: finds what it has made, to be removed. Default: it fails at once. */
  readonly stop?: (args: Args<T>, context: PhaseContext) => PhaseStep;
}
