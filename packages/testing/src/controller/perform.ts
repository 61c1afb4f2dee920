// Carries out the effects of a decision in the model.
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  type Effect,
  type Finding,
  type Happened,
  type LookUp,
  type Settings,
  withoutSecrets,
} from "@janus/controller/core";
import { MARGIN, RECOVERY_DELAY } from "@janus/controller/limits";
import { type Instant, messageOf, toTimestamp, type ApiError, type KubeObject } from "@janus/types";
import { SYSTEM_NAMESPACE, WRITE_TIMEOUT } from "@janus/api";
import { written } from "../api-server/field-managers.ts";
import { respond } from "../api-server/respond.ts";
import { servedKind } from "../api-server/served-kinds.ts";
import { changedObject } from "../api-server/written-object.ts";
import { objectAt, placeKey, stored, versioned, type World } from "../api-server/world.ts";
import { listOwned } from "./list-owned.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";

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

/** Carries out one effect: the world, the clock and the requests after it, and what happened. */
export const perform = (
  state: State,
  scenario: Scenario,
  effect: Effect,
): { readonly state: State; readonly happened: Happened } => {
  const sent = state.now;
  if (!("call" in effect)) return { state, happened: { type: "found", ...lookUp(state, scenario, effect), at: sent } };
  const { world, answer: raw } = send(state, scenario, effect);
  const answer = E.mapLeft((fault: ApiError) => withoutSecrets(fault, effect, state.txn, {}))(raw);
  const { call, as, purpose, dryRun, item } = effect;
  const error = E.isLeft(answer) ? messageOf(answer.left) : undefined;
  const request = { call, as, purpose, dryRun: dryRun === true, item, error };
  const at = sent + LATENCY;
  return {
    state: { ...state, world, now: at, requests: [...state.requests, request] },
    happened: { type: "answered", effect, answer, sent, at },
  };
};
