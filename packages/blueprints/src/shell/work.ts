// Starts the work of a leader: watches ActionSets, and executes each with the loop of the runtime.
import { randomUUID } from "node:crypto";
import { type Api, listAll } from "@janus/kube";
import {
  type Finishing,
  keyOf,
  objectWatches,
  reconcileKeys,
  type Round,
  type TrackedObject,
  wall,
  watchKind,
  withRequestLog,
  type Work,
  type WorkContext,
} from "@janus/runtime/parts";
import { type Instant, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { actionSets } from "../api/names.ts";
import {
  actionSetController,
  type Answer,
  cached,
  dueAt,
  type Effect,
  endedPod,
  type Happened,
  isMisplaced,
  type Memory,
  resting,
  type Settings,
  statesOf,
  type Step,
  turnsOf,
} from "../core/index.ts";
import { executors } from "./executors.ts";
import { impersonating, logFollowers } from "./log-followers.ts";
import { actionSetMetrics } from "./metrics.ts";
import { NAMES } from "./names.ts";
import { type Candidate, runningActions } from "./running-actions.ts";
import { statusPlace } from "./status-place.ts";
import { loggingRequests, logOf, observing } from "./telemetry.ts";

/** Objects that phases wait for: watches of all namespaces, and of one. Each uses a connection. */
const WATCHES = { watches: 64, ofNamespace: 32, polls: true, interval: 50 };

/** A Pod changes three times until it runs: nothing is to be done before the last of them. Its end is told at once. */
const PODS: Finishing = { has: ({ group, kind }) => group === "" && kind === "Pod", finished: endedPod, settle: 100 };

const candidateOf = (memory: Memory): Candidate => {
  const { uid = "", namespace = "", creationTimestamp = "" } = memory.object.metadata;
  const actions = memory.actionSet.spec?.actions?.length ?? 0;
  return { uid, namespace, key: keyOf(memory.object), createdAt: creationTimestamp, actions };
};

const isBeginning = (step: Step): boolean =>
  step.type === "run" && step.effects.some(({ purpose }) => purpose === "create-journal");

/** Sends one request as the user of its effect. A list has all of its pages. */
const sending = async (api: Api, namespace: string, { as, purpose, request }: Effect): Promise<Answer> => {
  const full = { ...request, purpose, ...(as === undefined ? {} : { as: impersonating(namespace, as) }) };
  if (full.verb !== "list") return api.send(full);
  return E.map(({ items }: { readonly items: readonly unknown[] }) => ({
    apiVersion: "v1",
    kind: "List",
    metadata: {},
    items,
  }))(await listAll(api, full));
};

export interface BlueprintFlags {
  /** The most actions of a namespace that are executed at the same time. */
  readonly maxRunningActions: number;
  readonly watchNamespaces: readonly string[] | undefined;
  readonly concurrency: number;
}

/** Executes the ActionSets of some namespaces, or of all. */
export const startWork = (
  { api, streams, log, watchdog }: Pick<WorkContext, "api" | "streams" | "log" | "watchdog">,
  { watchNamespaces, concurrency, maxRunningActions }: BlueprintFlags,
  settings: Omit<Settings, "process">,
): Work => {
  const { registry, count } = actionSetMetrics(() =>
    watched.isSynced() ? statesOf(watched.store.values()) : undefined,
  );
  const observed = observing(api, count);

  /** Something that a phase waits for has happened: it is folded, and decided on at once. */
  const tell = (uid: string, happened: (at: Instant) => Happened): void => {
    const tracked = loop.tracked.of(uid);
    if (tracked === undefined) return;
    tracked.memory = controller.observe(tracked.memory, happened(tracked.now())).memory;
    watched.wake(tracked.key);
  };

  const logs = logFollowers(streams, (uid, phase, read) => tell(uid, () => ({ type: "logged", phase, log: read })));
  const commands = executors(streams, (uid, key, outcome) => tell(uid, () => ({ type: "executed", key, outcome })));
  const watches = objectWatches(
    () => api,
    (uid, index) => tell(uid, (at) => ({ type: "changed", index, at })),
    WATCHES,
    PODS,
  );

  const turns = runningActions(maxRunningActions, (key) => watched.wake(key));
  const onDecision = (_: Round, { uid, namespace, memory }: TrackedObject<Memory>, step: Step): void => {
    if (memory.journal.type === "read" || isBeginning(step)) turns.begin(candidateOf(memory));
    else if (step.isQueued === true) turns.wait(candidateOf(memory));
    if (step.type === "done") commands.join(uid, namespace, []);
    if (step.type !== "wait") return;
    const { watched: targets = [], follow = [], execs = [] } = step;
    commands.join(uid, namespace, execs);
    logs.join(uid, namespace, follow);
    const [first] = follow;
    const as = memory.journal.type === "read" ? memory.journal.journal.serviceAccount : first?.as;
    if (targets.length === 0 || as === undefined) watches.leave(uid);
    else watches.join({ uid, namespace, as: impersonating(namespace, as) }, targets);
  };

  const status = statusPlace(api);
  const controller = actionSetController(
    { ...settings, process: randomUUID() },
    { mayBegin: (memory) => turns.mayBegin(candidateOf(memory)), isStatusApart: status.isApart },
  );
  const loop = reconcileKeys<Memory, Effect, Happened, Step>(controller, {
    kind: "ActionSet",
    resting,
    read: async (key, { log: lines }) => {
      const found = await status.find();
      if (E.isLeft(found)) return found;
      const [namespace = "", name = ""] = key.split("/");
      const request = { verb: "get", resource: actionSets, namespace, name, purpose: "read-actionset" } as const;
      return withRequestLog(api, lines).send(request);
    },
    perform: async (round, tracked, effect) => {
      const sent = tracked.now();
      const answer = await sending(loggingRequests(api, round.log, tracked.memory), tracked.namespace, effect);
      if (isMisplaced(effect, answer)) status.forget();
      return { type: "answered", effect, answer, sent, at: tracked.now() };
    },
    wake: (key) => watched.wake(key),
    mayExist: (key) => watched.store.has(key),
    mayBeDeleted: ({ key, uid }) => watched.store.get(key)?.metadata.uid !== uid,
    isOutdated: ({ key, memory: { object } }) => {
      const last = watched.store.get(key)?.metadata;
      return last?.uid === object.metadata.uid && last?.deletionTimestamp !== object.metadata.deletionTimestamp;
    },
    onDecision,
    onObserved: (round, before, { memory }, happened, { failed }) => {
      if (happened.type === "answered" && failed === undefined) observed(round.log, before, memory, happened);
    },
    onFailures: (round, { memory }, [{ error }]) => {
      logOf(round.log, memory)("warn", "request failed, retrying the ActionSet after a pause", {
        error: messageOf(error),
      });
      return Promise.resolve(Number.POSITIVE_INFINITY);
    },
    onForgotten: (uid) => {
      turns.leave(uid);
      commands.leave(uid);
      logs.leave(uid);
      watches.leave(uid);
    },
  });

  const watched = watchKind(api, {
    resource: actionSets,
    keep: cached,
    ...(watchNamespaces === undefined ? {} : { namespaces: watchNamespaces }),
    names: NAMES,
    registry,
    concurrency,
    log,
    watchdog,
    reconcile: loop.reconcile,
    dueAt: (object) => dueAt(object, wall(), settings.defaultTtl),
    groupOf: turnsOf,
    lastKnown: ({ metadata: { uid = "" } }) => loop.tracked.of(uid)?.memory.object.metadata,
  });

  return {
    registry,
    isSynced: watched.isSynced,
    synced: watched.synced,
    stop: async () => {
      loop.stop();
      logs.stop();
      commands.stop();
      watches.stop();
      await watched.stop();
    },
  };
};
