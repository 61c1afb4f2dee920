// What a function is given of the phase that it executes, and what it says in return.
import type { ApiError, Instant, JsonObject } from "@janus/types";
import type { ActionSet } from "../api/action-set.ts";
import type { Args, ArgTable } from "./args.ts";
import type { Effect, LogSource } from "./effect.ts";
import type { LogOutput } from "./log-output.ts";
import type { Answer } from "./memory.ts";
import { attemptOf, phaseKey } from "./names.ts";
import type { ObjectRef } from "./requests.ts";

/** The fact of the object that a phase waits for: it is forgotten, and so read again, when a watch tells of a change. */
export const WATCHED = "watched";

/** The place of a phase in an ActionSet. */
export interface PhaseId {
  readonly action: number;
  readonly phase: number | "defer";
}

const DEFER = 999;

/** The number by which a watch knows a phase. */
export const indexOf = ({ action, phase }: PhaseId): number => action * 1000 + (phase === "defer" ? DEFER : phase);

/** The same, from the name of one of its facts. */
export const phaseOfIndex = (fact: string): number => {
  const [, action, phase] = fact.split("/");
  return indexOf({ action: Number(action), phase: phase === "defer" ? "defer" : Number(phase) });
};

export interface Settings {
  /** The ServiceAccount of ActionSets that name none. */
  readonly defaultServiceAccount: string;
  /** How long a Pod may take until it runs, in ms. */
  readonly podReadyTimeout: number;
  /** Unknown to others: what templates generate at random depends on it. */
  readonly seed: string;
}

export interface PhaseContext {
  readonly actionSet: ActionSet;
  readonly serviceAccount: string;
  readonly id: PhaseId;
  readonly name: string;
  readonly attempt: number;
  readonly startedAt: Instant;
  readonly now: Instant;
  readonly settings: Settings;
  readonly remembered: JsonObject;
  readonly log: LogOutput;
  /** Merged into Pods: of the action of the ActionSet. */
  readonly pod: {
    readonly override: JsonObject;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  /** The answer of this name, of this attempt. */
  readonly fact: (name: string) => Answer | undefined;
  /** Why there is no answer of this name yet, where it was asked for. */
  readonly trouble: (name: string) => ApiError | undefined;
}

/** Of all that this attempt makes: its annotation. */
export const madeBy = ({ actionSet, id, name, attempt }: PhaseContext): string =>
  attemptOf(actionSet.metadata.uid, id.action, name, attempt);

export const keyOf = ({ id, attempt }: Pick<PhaseContext, "id" | "attempt">): string =>
  phaseKey(id.action, id.phase, attempt);

/** The name under which an answer is remembered for a phase. */
export const factOf = (context: PhaseContext, name: string): string => `${keyOf(context)}/${name}`;

/** What is next in a phase. */
export type PhaseStep =
  | { readonly type: "run"; readonly effects: readonly Effect[] }
  /** It must know this after a restart. */
  | { readonly type: "remember"; readonly remembered: JsonObject }
  | {
      readonly type: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly watched?: { readonly ref: ObjectRef; readonly resourceVersion: string | undefined };
      readonly follow?: LogSource;
    }
  | { readonly type: "end"; readonly output: Readonly<Record<string, string>> }
  | { readonly type: "fail"; readonly message: string };

/** A permission that a phase needs. */
export interface Access {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace: string;
}

/** A function of Kanister: data, and one pure function. */
export interface KanisterFunction<T extends ArgTable = ArgTable> {
  readonly about: string;
  readonly args: T;
  readonly outputs: string;
  /** The permissions that it needs, as far as the namespaces are known before it starts. */
  readonly access: (args: Partial<Args<T>>, namespace: string) => readonly Access[];
  readonly step: (args: Args<T>, context: PhaseContext) => PhaseStep;
  /** The same once the ActionSet is deleted: what it has made is found, to be removed. Default: it fails at once. */
  readonly stop?: (args: Args<T>, context: PhaseContext) => PhaseStep;
}
