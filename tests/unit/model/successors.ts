import { decodeTransaction, FINALIZER, type Transaction } from "@janus/api";
import {
  type Ask,
  decide,
  done,
  type Effect,
  isTerminal,
  type Known,
  type KubeObject,
  meaning,
  nothing,
  places,
  renewals,
  sentence,
  type Situation,
} from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import { keyOf, preconditionsOf, respond, TARGET_KIND } from "./api-server.ts";
import { type Deed, deeds, did, leaseDeeds, wishes } from "./others.ts";
import { OWN, SETTINGS, WIDGETS } from "./scenario.ts";
import type { Budget, Flight, State } from "./state.ts";

/** What may happen next, as a reader would tell it. */
export interface Next {
  readonly state: State;
  readonly story: readonly string[];
}

export interface Rules {
  /** Whether the API server refuses writes to targets of a term that is over. */
  readonly fence: boolean;
  /** Whether a new process may also come late: when spec.timeout has passed. */
  readonly lateTakeover: boolean;
  /** How often a Failed Transaction is watched being tried again. */
  readonly recoveries: number;
}

const decoded = new WeakMap<KubeObject, Transaction>();
const transactionOf = (object: KubeObject): Transaction => {
  const known = decoded.get(object);
  if (known !== undefined) return known;
  const result = decodeTransaction(object);
  if (E.isLeft(result)) throw new Error(`the core wrote a status that does not decode: ${result.left}`);
  decoded.set(object, result.right);
  return result.right;
};

export const situationOf = ({ own, known, now }: State): Situation => ({
  txn: transactionOf(own),
  known,
  now,
  settings: SETTINGS,
});

type Sort = Exclude<keyof Budget, "all">;

const spent = (state: State, ...sorts: readonly Sort[]): State | undefined => {
  const left = { ...state.left };
  for (const sort of sorts) {
    if (left[sort] === 0 || left.all === 0) return undefined;
    left[sort] -= 1;
    left.all -= 1;
  }
  return { ...state, left };
};

type Mutable<A> = { -readonly [K in keyof A]: A[K] };

const isTarget = (key: string): boolean => key.startsWith(`${TARGET_KIND} `);

/** The pause after a request that did not succeed, in ms. */
const BACKOFF = 200;
/** Longer than any deadline, in ms. */
const LEAP = 1_860_000;
/** So many pauses with nothing done in between, and the rest of a long wait is over in one. */
const PATIENCE = 4;
const QUIET = SETTINGS.writeTimeout + SETTINGS.margin;

const isWrite = ({ call, dryRun }: Ask): boolean =>
  call.verb !== "get" && dryRun !== true && call.place.resource.kind !== "SelfSubjectAccessReview";

const isOwn = ({ purpose }: Ask): boolean => purpose === "record" || purpose === "finalizer";

/** What the world is after a write of ours, whoever learns of it. */
const landed = (
  state: State,
  call: Ask["call"],
): { readonly state: State; readonly answer: E.Either<Fault, KubeObject> } => {
  const key = keyOf(call.place);
  const live = state.world.objects.get(key);
  const { answer, world } = respond(state.world, { call, dryRun: false, by: "janus" });
  if (world === state.world) return { state, answer };
  const next: Mutable<State> = { ...state, world, pauses: key.startsWith("Lease ") ? state.pauses : 0 };
  if (isTarget(key)) {
    next.touched = new Set([...state.touched].filter((other) => other !== key));
    const mayTouch = transactionOf(state.own).status.items.some(
      ({ state: item }) => "before" in item && item.before.existed && item.before.uid === live?.metadata.uid,
    );
    if (live?.metadata.uid?.startsWith("person") === true && !mayTouch)
      next.broken = `it wrote to ${key}, which somebody else created`;
  }
  const { uid, resourceVersion } = preconditionsOf(call);
  if (isTarget(key) && call.verb !== "create" && (uid === undefined || resourceVersion === undefined))
    next.broken = `it would have written to any ${key}`;
  const spec = live?.["spec"] as { readonly holderIdentity?: string } | undefined;
  if (spec?.holderIdentity === "somebody" && call.verb === "delete") next.broken = `it deleted somebody's ${key}`;
  return { state: next, answer };
};

type Fault = Parameters<typeof meaning>[0];

const tellOf = (answer: E.Either<Fault, KubeObject>): string => (E.isRight(answer) ? "ok" : sentence(answer.left));

const nameOf = ({ purpose, call, dryRun }: Ask): string =>
  `${purpose}: ${call.verb}${dryRun === true ? " (dry run)" : ""} ${keyOf(call.place)}`;

/** Time passes, and what was under way for too long is no more. */
const later = (state: State, now: number): State => ({
  ...state,
  now,
  flights: state.flights.filter(({ until }) => until > now),
});

const without = <A>(list: readonly A[], item: A): readonly A[] => list.filter((other) => other !== item);

/** A write that was under way arrives; one of a former leader only where nothing stops it. */
const arrivals = (state: State, rules: Rules, key: string | undefined): readonly Next[] =>
  state.flights
    .filter(({ call }) => key === undefined || keyOf(call.place) === key)
    .map((flight): Next => {
      const grounded = { ...state, flights: without(state.flights, flight) };
      const what = `${flight.call.verb} ${keyOf(flight.call.place)}`;
      if (rules.fence && flight.fenced && flight.term !== state.term)
        return { state: grounded, story: [`  a former leader's ${what} arrives late, and is fenced off`] };
      const { state: next, answer } = landed(grounded, flight.call);
      const over = isTerminal(transactionOf(state.world.objects.get(OWN) ?? state.own).status.phase);
      const isStray = over && !flight.fenced && flight.call.verb === "create" && E.isRight(answer);
      const stray = isStray ? new Set([...state.stray, keyOf(flight.call.place)]) : state.stray;
      return { state: { ...next, stray }, story: [`  the ${what} that was given up arrives late: ${tellOf(answer)}`] };
    });

const sortOf = (key: string): { readonly sort: Sort; readonly deeds: readonly Deed[] } | undefined => {
  if (isTarget(key)) return { sort: "others", deeds };
  if (key.startsWith("Lease ")) return { sort: "leases", deeds: leaseDeeds };
  return key === OWN ? { sort: "wishes", deeds: wishes } : undefined;
};

/** What others do to this object. */
const doings = (state: State, key: string): readonly Next[] => {
  const sorted = sortOf(key);
  const after = sorted === undefined ? undefined : spent(state, sorted.sort);
  if (sorted === undefined || after === undefined) return [];
  return sorted.deeds.flatMap((deed): readonly Next[] => {
    const world = did(after.world, key, deed);
    if (world === undefined) return [];
    const story = [`  somebody ${deed.name} ${key}`];
    if (!isTarget(key)) return [{ state: { ...after, world }, story }];
    const gone = deed.name.startsWith("deletes");
    return [
      {
        state: {
          ...after,
          world,
          without: alone(after, key, deed, world.objects.get(key)),
          touched: new Set([...after.touched, key]),
          deleted: gone ? new Set([...after.deleted, key]) : after.deleted,
        },
        story,
      },
    ];
  });
};

const isDying = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined;

/** The same deed where nothing of ours is. What others create is the very same object there. */
const alone = (state: State, key: string, deed: Deed, result: KubeObject | undefined): State["without"] => {
  const next = new Map(state.without);
  // What is written to an object that we are deleting goes with it.
  if (isDying(state.world.objects.get(key)) && !isDying(next.get(key))) return next;
  if (result === undefined) next.delete(key);
  else if (
    result.metadata.uid?.startsWith("person") === true &&
    state.world.objects.get(key)?.metadata.uid !== result.metadata.uid
  )
    next.set(key, result);
  else {
    const other = deed.on(next.get(key), key, result.metadata.resourceVersion ?? "", result);
    if (other !== "no" && other !== undefined) next.set(key, other);
  }
  return next;
};

/** Everything that may come before the next request for this object. */
const interludes = (state: State, rules: Rules, key: string): readonly Next[] => [
  ...arrivals(state, rules, key),
  ...doings(state, key),
];

/** A new process takes the Transaction up, knowing nothing. */
const takeOver = (state: State, at: number): State => {
  const next = later(state, at);
  const own = next.world.objects.get(OWN) ?? next.own;
  return { ...next, own, known: nothing(at), term: next.term + 1, pauses: 0 };
};

const LOST: Fault = { kind: "unanswered", cause: "connection", message: "the connection was reset" };
const DENIED: Fault = { kind: "refused", code: 422, reason: "Invalid", message: "denied by admission", causes: [] };

interface Round {
  readonly rules: Rules;
  readonly found: Next[];
}

/** Plays the effects of one decision in order, with everything that may come in between. */
const play = (
  round: Round,
  state: State,
  effects: readonly Effect[],
  story: readonly string[],
  outcome: "learned" | "stale" | "failed",
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
    play(round, { ...state, known: effect.learn(state.known, WIDGETS, state.now) }, rest, story, outcome);
    return;
  }
  const key = keyOf(effect.call.place);
  const name = nameOf(effect);
  for (const before of interludes(state, rules, key))
    play(round, before.state, effects, [...story, ...before.story], outcome);

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
  const unanswered = (base: State, text: string): void => {
    const known = effect.lost?.(base.known, LOST, base.now) ?? base.known;
    play(round, { ...base, known }, rest, [...story, text], "failed");
  };

  const answered = isWrite(effect)
    ? landed(state, effect.call)
    : {
        state,
        answer: respond(state.world, { call: effect.call, dryRun: effect.dryRun === true, by: "janus" }).answer,
      };
  const told = `${name} → ${tellOf(answered.answer)}`;
  const learned = learn(answered.state, effect, answered.answer);
  play(round, learned.state, rest, [...story, told], worse(outcome, learned.outcome));

  const lost = spent(state, "lost");
  if (lost !== undefined) unanswered(lost, `${name} → no answer, and it was not made`);
  if (!isWrite(effect)) return;
  if (answered.state.world !== state.world) {
    crash(answered.state, told, "crash");
    const mute = spent(answered.state, "lost");
    if (mute !== undefined) unanswered(mute, `${name} → no answer, though it was made`);
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
      const after = learn(denied, effect, E.left(DENIED));
      play(round, after.state, rest, [...story, `${name} → ${sentence(DENIED)}`], worse(outcome, after.outcome));
    }
  }
};

const worse = (a: "learned" | "stale" | "failed", b: "learned" | "stale" | "failed") =>
  a === "failed" || b === "failed" ? "failed" : a === "stale" || b === "stale" ? "stale" : "learned";

/** As the shell folds an answer in. */
const learn = (
  state: State,
  effect: Ask,
  answer: E.Either<Fault, KubeObject>,
): { readonly state: State; readonly outcome: "learned" | "stale" | "failed" } => {
  if (isOwn(effect) && E.isLeft(answer))
    return { state, outcome: meaning(answer.left) === "conflict" ? "stale" : "failed" };
  const known: Known = effect.learn(state.known, answer, state.now, state.now);
  return {
    state: { ...state, known, ...(isOwn(effect) && E.isRight(answer) ? { own: answer.right } : {}) },
    outcome: "learned",
  };
};

/** The shell reads the Transaction at the beginning of every round. */
const reread = (state: State): State => ({ ...state, own: state.world.objects.get(OWN) ?? state.own });

/** The round is over; what did not succeed is taken up again after a pause, with the Transaction read anew. */
const settleRound = (
  { rules, found }: Round,
  state: State,
  story: readonly string[],
  outcome: "learned" | "stale" | "failed",
): void => {
  if (outcome === "learned") {
    found.push({ state, story });
    return;
  }
  const ready = outcome === "failed" ? later(state, state.now + BACKOFF) : state;
  found.push({ state: reread(ready), story });
  for (const { state: after, story: more } of arrivals(state, rules, OWN))
    found.push({ state: reread(later(after, ready.now)), story: [...story, ...more] });
};

/** Whether nothing more is done but, for a Failed one, another attempt much later. */
export const isOver = (state: State): boolean => {
  if (!state.world.objects.has(OWN)) return state.flights.length === 0;
  const situation = situationOf(state);
  const { status, metadata } = situation.txn;
  const over = isTerminal(status.phase) && !(metadata.finalizers ?? []).includes(FINALIZER);
  return state.flights.length === 0 && over && decide(situation).next !== "run";
};

/** The states that may follow; none once the Transaction is over and nothing is under way any more. */
export const successors = (state: State, rules: Rules): readonly Next[] => {
  const noticed = [...doings(state, OWN), ...(isStale(state) ? [{ state, story: [] }] : [])].map((next) => ({
    state: reread(next.state),
    story: [...next.story, "  the process sees that"],
  }));
  return [...work(state, rules), ...(isOver(state) ? [] : noticed)];
};

const isStale = ({ own, world }: State): boolean =>
  own.metadata.resourceVersion !== (world.objects.get(OWN) ?? own).metadata.resourceVersion;

/** What the process itself does next. */
const work = (state: State, rules: Rules): readonly Next[] => {
  const round: Round = { rules, found: [] };
  const situation = situationOf(state);
  const due = isTerminal(situation.txn.status.phase) ? [] : renewals(situation, places(situation.txn, state.known));
  const gone = !state.world.objects.has(OWN);
  const step = gone ? done : due.length > 0 ? ({ next: "run", effects: due } as const) : decide(situation);
  switch (step.next) {
    case "run":
      play(round, state, step.effects, [], "learned");
      return round.found;
    case "wait": {
      if (isOver(state) && (situation.txn.status.recovery?.attempts ?? 0) >= rules.recoveries) return [];
      const patience = state.pauses < PATIENCE;
      const until = patience ? Math.max(step.until, state.now + 10) : Math.max(step.until, state.now + LEAP);
      const story = [`  waits ${patience ? "" : "a long time "}(${step.because})`];
      const waited = { ...later(state, until), pauses: state.pauses + 1 };
      return [{ state: waited, story }, ...arrivals(state, rules, undefined)];
    }
    case "done":
      return state.flights.flatMap((flight) => [
        ...arrivals(state, rules, keyOf(flight.call.place)),
        { state: { ...state, flights: without(state.flights, flight) }, story: ["  what was under way never arrives"] },
      ]);
  }
};
