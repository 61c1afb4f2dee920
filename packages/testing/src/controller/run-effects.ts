// Runs the effects of a decision against the model.
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  type Effect,
  decodeStored,
  type Finding,
  type LookUp,
  MARGIN,
  observe,
  RECOVERY_DELAY,
  type Settings,
  noObservations,
  transactions,
  withoutSecrets,
} from "@janus/controller/core";
import { classify, type Instant, messageOf, toTimestamp, type ApiError, type KubeObject } from "@janus/types";
import { SYSTEM_NAMESPACE, type Transaction, WRITE_TIMEOUT } from "@janus/api";
import { written } from "../api-server/field-managers.ts";
import { respond } from "../api-server/respond.ts";
import { servedKind } from "../api-server/served-kinds.ts";
import { changedObject } from "../api-server/written-object.ts";
import { objectAt, placeKey, stored, versioned, type World } from "../api-server/world.ts";
import { listOwned } from "./list-owned.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";

/** An effect that failed, and why. */
export interface Failure {
  readonly effect: Effect;
  readonly error: ApiError;
}

export interface Round {
  readonly state: State;
  readonly failure?: Failure;
}

/** The Transaction as it is stored. */
export const decoded = (object: KubeObject): Transaction => {
  const read = decodeStored(object);
  if (E.isLeft(read)) throw new Error(`the simulated status does not decode: ${read.left.why}`);
  return read.right;
};

/** The settings of the controller without flags. */
export const SETTINGS: Settings = {
  controllerNamespace: SYSTEM_NAMESPACE,
  writeTimeout: WRITE_TIMEOUT * 1000,
  margin: MARGIN,
  recoveryDelay: RECOVERY_DELAY,
};

/** The result of a lookup that takes more than one request. */
const lookUp = ({ world }: State, scenario: Scenario, effect: LookUp): Finding => {
  switch (effect.purpose) {
    case "discover": {
      const kind = servedKind(world, scenario.server.assumed, effect.apiVersion, effect.kind);
      return { effect, found: kind === undefined ? { others: [] } : kind };
    }
    case "find-owned":
      return { effect, found: listOwned(world, scenario, effect) };
    case "find-pods":
      return { effect, found: [] };
    case "find-events":
      return { effect, found: [] };
  }
};

/** The object with a status that a controller of the cluster has set; it manages that, unless it is a subresource. */
const reported = (world: World, { server }: Scenario, object: KubeObject, status: object, now: Instant): KubeObject => {
  const kind = servedKind(world, server.assumed, object.apiVersion, object.kind);
  const body = { ...object, status };
  if (kind === undefined || kind.resource.statusSubresource) return body;
  const author = { manager: "controller-of-the-cluster", apiVersion: object.apiVersion, time: toTimestamp(now) };
  return changedObject(object, written(object, body, kind.type, author), kind);
};

/** The controllers of the cluster set the status of a target after each of its writes. */
const withStatus = (
  world: World,
  { call, item, purpose, dryRun }: ApiCall,
  scenario: Scenario,
  now: Instant,
): World => {
  const object = objectAt(world, call.place);
  const isWrite = purpose === "change" || purpose === "restore";
  if (!isWrite || dryRun === true || item === undefined || object === undefined) return world;
  const status = scenario.statusOf(object, call.place, item);
  return status === undefined
    ? world
    : stored(world, placeKey(call.place), versioned(world, reported(world, scenario, object, status, now)));
};

const send = (
  state: State,
  scenario: Scenario,
  effect: ApiCall,
): { readonly world: World; readonly answer: E.Either<ApiError, KubeObject> } => {
  const world = scenario.before(state.world, effect);
  const { call, as } = effect;
  const refusal = scenario.refusal(effect);
  if (refusal !== undefined) return { world, answer: E.left(refusal) };
  const user = as === "serviceAccount" ? { user: scenario.serviceAccount } : {};
  const reply = respond(scenario.server, world, { call, dryRun: effect.dryRun === true, now: state.now, ...user });
  return {
    answer: reply.answer,
    world: E.isRight(reply.answer) ? withStatus(reply.world, effect, scenario, state.now) : reply.world,
  };
};

/** Time that a request takes, in ms. */
const LATENCY = 1;

const runEffect = (state: State, scenario: Scenario, effect: ApiCall): Round & { readonly isStale?: true } => {
  const sent = state.now;
  const { world, answer: raw } = send(state, scenario, effect);
  const answer = E.mapLeft((fault: ApiError) => withoutSecrets(fault, effect, state.txn, {}))(raw);
  const { call, as, purpose, dryRun, item } = effect;
  const error = E.isLeft(answer) ? messageOf(answer.left) : undefined;
  const request = { call, as, purpose, dryRun: dryRun === true, item, error };
  const now = state.now + LATENCY;
  const after: State = { ...state, world, now, requests: [...state.requests, request] };
  const { failed, isStale, memory } = observe(state, { type: "answered", effect, answer, sent, at: now }, SETTINGS);
  if (memory.unreadable !== undefined)
    throw new Error(`the simulated status does not decode: ${memory.unreadable.why}`);
  const next = { ...after, txn: memory.txn, known: memory.known };
  if (isStale === true) return { state: next, isStale };
  if (failed !== undefined) return { state: next, failure: { effect, error: failed } };
  return { state: E.isRight(answer) ? { ...next, events: [...next.events, ...(effect.events ?? [])] } : next };
};

/** Reads the Transaction again: another client has written it. */
export const reread = (state: State): State => {
  const { name, namespace } = state.txn.metadata;
  const object = objectAt(state.world, { resource: transactions, namespace, name });
  return object === undefined ? state : { ...state, txn: decoded(object) };
};

/** A new process: the request was sent, its answer was lost, and nothing is known that was in memory only. */
const restarted = (before: State, { world, now, requests }: State): State =>
  reread({ ...before, world, now, requests, known: noObservations(now), failures: 0 });

/** Runs effects one after the other, as the shell does with those of one decision. After a transient error no more are sent. */
export const runEffects = (start: State, scenario: Scenario, effects: readonly Effect[]): Round => {
  let state = start;
  let failure: Failure | undefined;
  let isStale = false;
  for (const effect of effects) {
    if (!("call" in effect)) {
      const found = lookUp(state, scenario, effect);
      state = {
        ...state,
        known: observe(state, { type: "found", ...found, at: state.now }, SETTINGS).memory.known,
      };
      continue;
    }
    const round = runEffect(state, scenario, effect);
    if (round.state.requests.length === scenario.crashAt) return { state: restarted(state, round.state) };
    state = round.state;
    failure ??= round.failure;
    isStale ||= round.isStale === true;
    if (round.failure !== undefined && classify(round.failure.error) === "transient") break;
  }
  if (failure !== undefined) return { state, failure };
  return { state: isStale ? reread(state) : state };
};
