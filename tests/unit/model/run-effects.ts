import * as E from "fp-ts/lib/Either.js";
import { type ApiCall, type Effect, type ApiError, type KubeObject, noObservations } from "@janus/controller";
import { isOwn } from "../../../packages/controller/src/core/observe.ts";
import { messageOf } from "@janus/types";
import { keyOf, respond } from "./api-server.ts";
import { OWN, SETTINGS, WIDGETS } from "./scenario.ts";
import type { Flight, State } from "./state.ts";
import { type Next, type Rules, spent, type Sort, later, reread, rested, transactionOf } from "./moment.ts";
import { landed, tellOf, isTarget } from "./landed.ts";
import { arrivals, interludes } from "./interludes.ts";
import { found, heard, learn } from "../core/learn.ts";
import { wrongAnswers } from "./wrong-answers.ts";

const at = ({ own, known }: State) => ({ txn: transactionOf(own), known });

/** The pause after a request that did not succeed, in ms. */
const BACKOFF = 200;
/** Longer than any deadline, in ms. */
export const LEAP = 1_860_000;
const QUIET = SETTINGS.writeTimeout + SETTINGS.margin;

const isWrite = ({ call, dryRun }: ApiCall): boolean =>
  call.verb !== "get" && dryRun !== true && call.place.resource.kind !== "SelfSubjectAccessReview";

const nameOf = ({ purpose, call, dryRun }: ApiCall): string =>
  `${purpose}: ${call.verb}${dryRun === true ? " (dry run)" : ""} ${keyOf(call.place)}`;

/** A new process takes the Transaction up, knowing nothing. */
export const takeOver = (state: State, at: number): State => {
  const next = later(state, at);
  const own = next.world.objects.get(OWN) ?? next.own;
  return { ...next, own, known: noObservations(at), term: next.term + 1, pauses: 0 };
};

const LOST: ApiError = { type: "unanswered", cause: "connection", message: "the connection was reset" };
/** A 404 that is not of the API server. */
const NO_PAGE: ApiError = { type: "refused", code: 404, reason: "", message: "HTTP 404: <html></html>", causes: [] };
const DENIED: ApiError = { type: "refused", code: 422, reason: "Invalid", message: "denied by admission", causes: [] };

export interface Round {
  readonly rules: Rules;
  readonly found: Next[];
}

/** Plays the effects of one decision in order, with everything that may come in between. */
export const runEffects = (
  round: Round,
  state: State,
  effects: readonly Effect[],
  story: readonly string[],
  outcome: "observed" | "stale" | "failed",
): void => {
  const { rules, found } = round;
  const [effect, ...rest] = effects;
  if (state.broken !== undefined) {
    found.push({ state, story });
    return;
  }
  if (effect === undefined) {
    settleRound(round, state, story, outcome);
    return;
  }
  if (!("call" in effect)) {
    runEffects(round, { ...state, known: lookedUp(effect, state) }, rest, story, outcome);
    return;
  }
  const key = keyOf(effect.call.place);
  const name = nameOf(effect);
  for (const before of interludes(state, rules, key))
    runEffects(round, before.state, effects, [...story, ...before.story], outcome);

  const crash = (base: State | undefined, text: string, ...sorts: readonly Sort[]): void => {
    const died = base === undefined ? undefined : spent(base, ...sorts);
    if (died === undefined) return;
    found.push({
      state: takeOver(died, died.now),
      story: [...story, text, "  the process dies; another one takes over"],
    });
    if (rules.lateTakeover)
      found.push({
        state: takeOver(died, died.now + LEAP),
        story: [...story, text, "  the process dies; long after, another one takes over"],
      });
  };
  const unanswered = (base: State, text: string, fault: ApiError = LOST): void => {
    const known = learn(at(base), effect, E.left(fault), base.now);
    runEffects(round, { ...base, known }, rest, [...story, text], "failed");
  };

  const answered = isWrite(effect)
    ? landed(state, effect.call)
    : {
        state,
        answer: respond(state.world, { call: effect.call, dryRun: effect.dryRun === true, by: "janus" }).answer,
      };
  const told = `${name} → ${tellOf(answered.answer)}`;
  const learned = onAnswer(answered.state, effect, answered.answer);
  runEffects(round, learned.state, rest, [...story, told], worse(outcome, learned.outcome));

  const lost = spent(state, "lost");
  if (lost !== undefined) unanswered(lost, `${name} → no answer, and it was not made`);
  if (lost !== undefined) unanswered(lost, `${name} → a proxy's page, and it was not made`, NO_PAGE);
  const mistaken = spent(state, "wrong");
  if (mistaken !== undefined) refusedWrongly(round, mistaken, effects, story, outcome, false);
  if (!isWrite(effect)) return;
  if (mistaken !== undefined && answered.state.world !== state.world) {
    const made = spent(answered.state, "wrong");
    if (made !== undefined) refusedWrongly(round, made, effects, story, outcome, true);
  }
  if (answered.state.world !== state.world) {
    crash(answered.state, told, "crash");
    const mute = spent(answered.state, "lost");
    if (mute !== undefined) unanswered(mute, `${name} → no answer, though it was made`);
    if (mute !== undefined) unanswered(mute, `${name} → a proxy's page, though it was made`, NO_PAGE);
    const flight: Flight = {
      call: effect.call,
      fenced: effect.as === "serviceAccount",
      term: state.term,
      until: state.now + QUIET,
    };
    const sent = spent(state, "late");
    if (sent !== undefined) {
      const flying = { ...sent, flights: [...sent.flights, flight] };
      unanswered(flying, `${name} → no answer, it is still under way`);
      crash(flying, `${name} is under way`, "crash");
    }
  }
  if (isTarget(key)) {
    const denied = spent(state, "refused");
    if (denied !== undefined) {
      const after = onAnswer(denied, effect, E.left(DENIED));
      runEffects(round, after.state, rest, [...story, `${name} → ${messageOf(DENIED)}`], worse(outcome, after.outcome));
    }
  }
};

/** The first of the effects is refused in every way, by something that does not know what has become of it. */
const refusedWrongly = (
  round: Round,
  state: State,
  effects: readonly Effect[],
  story: readonly string[],
  outcome: "observed" | "stale" | "failed",
  isApplied: boolean,
): void => {
  const [effect, ...rest] = effects;
  if (effect === undefined || !("call" in effect)) return;
  for (const fault of wrongAnswers(effect, isApplied)) {
    const text = `${nameOf(effect)} → ${messageOf(fault)}, ${isApplied ? "though it was made" : "and it was not made"}`;
    const after = onAnswer(state, effect, E.left(fault));
    runEffects(round, after.state, rest, [...story, text], worse(outcome, after.outcome));
  }
};

/** What is looked up beside single requests: nothing is owned, and there are no Pods. */
const lookedUp = (effect: Exclude<Effect, ApiCall>, state: State): State["known"] => {
  switch (effect.purpose) {
    case "discover":
      return found(at(state), { effect, found: { resource: WIDGETS } }, state.now);
    case "find-owned":
      return found(at(state), { effect, found: { owned: [], unlisted: [] } }, state.now);
    case "find-pods":
      return found(at(state), { effect, found: [] }, state.now);
    case "find-events":
      return found(at(state), { effect, found: [] }, state.now);
  }
};

const worse = (a: "observed" | "stale" | "failed", b: "observed" | "stale" | "failed") =>
  a === "failed" || b === "failed" ? "failed" : a === "stale" || b === "stale" ? "stale" : "observed";

/** As the shell folds an answer in. */
const onAnswer = (
  state: State,
  effect: ApiCall,
  answer: E.Either<ApiError, KubeObject>,
): { readonly state: State; readonly outcome: "observed" | "stale" | "failed" } => {
  const { known, failed, isStale } = heard(at(state), effect, answer, state.now);
  return {
    state: { ...state, known, ...(isOwn(effect) && E.isRight(answer) ? { own: answer.right } : {}) },
    outcome: isStale === true ? "stale" : failed === undefined ? "observed" : "failed",
  };
};

/** The round is over; what did not succeed is taken up again after a pause, with the Transaction read anew. */
const settleRound = (
  { rules, found }: Round,
  state: State,
  story: readonly string[],
  outcome: "observed" | "stale" | "failed",
): void => {
  if (outcome === "observed") {
    found.push({ state, story });
    return;
  }
  const ready = outcome === "failed" ? later(rested(state, rules), state.now + BACKOFF) : state;
  found.push({ state: reread(ready), story });
  for (const { state: after, story: more } of arrivals(state, rules, OWN))
    found.push({ state: reread(later(after, ready.now)), story: [...story, ...more] });
};
