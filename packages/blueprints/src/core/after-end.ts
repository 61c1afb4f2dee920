// The rest of an ActionSet that has ended: its journal, and its deletion when its time is over.
import { asObject, fromTimestamp, type Instant, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ActionSet } from "../api/action-set.ts";
import { RUNNING, TTL } from "../api/names.ts";
import { identityOf } from "./resting.ts";

/** The time after its end for which a crash may have left the journal of an ActionSet, in ms; later it goes with its owner. */
const CLEANED_FOR = 3_600_000;

export const isTerminal = (state: string | undefined): boolean => state === "complete" || state === "failed";

export const hasFinalizer = ({ metadata: { finalizers = [] } }: ActionSet): boolean => finalizers.includes(RUNNING);

/** The time at which an ActionSet has ended: by Kanister's own definition, its last transition. */
const endOf = ({ status }: ActionSet): Instant | undefined =>
  fromTimestamp(status?.completionTime ?? status?.progress?.lastTransitionTime);

/** Artifacts are what another ActionSet is made from later. @param status as it is stored */
const hasArtifacts = (status: unknown): boolean => {
  const { actions } = asObject(status);
  return Array.isArray(actions) && actions.some((one) => Object.keys(asObject(asObject(one)["artifacts"])).length > 0);
};

/** The time of its deletion; undefined: never. The field wins over the label. @param byDefault s for those without artifacts */
export const expiryOf = (actionSet: ActionSet, byDefault: number | undefined): Instant | undefined => {
  const { metadata, spec } = actionSet;
  const label = metadata.labels?.[TTL];
  const seconds =
    spec?.ttlSecondsAfterFinished ??
    (label !== undefined && /^\d{1,9}$/u.test(label) ? Number(label) : undefined) ??
    (hasArtifacts(actionSet.status) ? undefined : byDefault);
  const ended = endOf(actionSet);
  return seconds === undefined || ended === undefined ? undefined : ended + Math.max(0, seconds) * 1000;
};

/** Returns whether a crash may have left its journal. */
export const mayHaveJournal = (actionSet: ActionSet, now: Instant): boolean =>
  now - (endOf(actionSet) ?? 0) < CLEANED_FOR;

/** The most characters of a text that is kept: longer ones are no times, states or numbers. */
const MOST = 64;

const short = (all: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = all[name];
      return typeof value === "number" || (typeof value === "string" && value.length <= MOST) ? [[name, value]] : [];
    }),
  );

/** The part of an ActionSet that the cache has: what it is, its state, and what says when it is to be looked at. */
export const cached = (object: KubeObject): KubeObject => {
  const { metadata, ...identity } = identityOf(object);
  const { finalizers = [], labels = {} } = object.metadata;
  const status = asObject(object["status"]);
  return {
    ...identity,
    metadata: {
      ...metadata,
      finalizers: finalizers.filter((one) => one === RUNNING),
      labels: short(labels, TTL) as Readonly<Record<string, string>>,
    },
    spec: short(asObject(object["spec"]), "ttlSecondsAfterFinished"),
    status: {
      ...short(status, "state", "completionTime"),
      progress: short(asObject(status["progress"]), "lastTransitionTime"),
      ...(hasArtifacts(status) ? { actions: [{ artifacts: { some: {} } }] } : {}),
    },
  };
};

/** The time at which an object of the cache is to be looked at; undefined: not before it changes. */
export const dueAt = (object: KubeObject, now: Instant, defaultTtl: number | undefined): Instant | undefined => {
  const decoded = ActionSet.decode(object);
  if (E.isLeft(decoded)) return now;
  const actionSet = decoded.right;
  if (!isTerminal(actionSet.status?.state) || hasFinalizer(actionSet) || mayHaveJournal(actionSet, now)) return now;
  return expiryOf(actionSet, defaultTtl);
};

/**
 * The group whose turns an object of the cache takes: its namespace. Those that have ended are one group: there may be thousands when a
 * process starts, and nobody waits for them.
 */
export const turnsOf = (key: string, object: KubeObject | undefined): string => {
  const { state } = asObject(object?.["status"]);
  return typeof state === "string" && isTerminal(state) ? "" : key.slice(0, key.indexOf("/"));
};
