import { type ElectionState, candidate, callOf, inputOf, type ElectionInput } from "@janus/runtime/parts";
import type { KubeObject, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

export const timing = { leaseDuration: 30_000, renewDeadline: 20_000, retryPeriod: 5_000, writeTimeout: 5_000 };
const place = { namespace: "ns", name: "leader" };

const refuse = (code: number) => {
  const refused = { type: "refused", code, reason: "", message: "", causes: [] } as const;
  return E.left(code === 404 ? ({ ...refused, notFound: "object" } as const) : refused);
};

/** A Lease, as the API server keeps it: a merge patch is made only to the version that it names. */
export const leaseServer = () => {
  let lease: KubeObject | undefined;
  let version = 0;
  const terms: string[] = [];
  const keep = (spec: object) => {
    version += 1;
    const before = lease?.["spec"] as Readonly<Record<string, unknown>> | undefined;
    const after = { ...before, ...spec } as Readonly<Record<string, unknown>>;
    if (after["holderIdentity"] !== "" && "acquireTime" in spec)
      terms.push(`${String(after["holderIdentity"])}/${String(after["leaseTransitions"])}`);
    lease = { apiVersion: "v1", kind: "Lease", metadata: { resourceVersion: `${version}` }, spec: after };
    return E.right(lease);
  };
  const answer = (request: Request) => {
    if (request.verb === "get") return lease === undefined ? refuse(404) : E.right(lease);
    if (request.verb !== "create" && request.verb !== "mergePatch") throw new Error(`unexpected ${request.verb}`);
    const { metadata, spec } = request.body as { metadata: { resourceVersion?: string }; spec: object };
    if (request.verb === "create") return lease === undefined ? keep(spec) : refuse(409);
    if (lease === undefined) return refuse(404);
    return metadata.resourceVersion === lease.metadata.resourceVersion ? keep(spec) : refuse(409);
  };
  /** Somebody's hand. */
  const edit = (spec: object): void => {
    if (lease !== undefined) keep(spec);
  };
  return { answer, edit, lease: () => lease, terms: terms as readonly string[] };
};

interface Someone {
  readonly name: string;
  identity: string;
  life: number;
  state: ElectionState;
  pausedUntil: number;
  /** Until then the API server may still work on what this one has sent as a leader. */
  busyUntil: number;
  leaving: boolean;
  /** Which call, or wait, it is at: what comes of an earlier one is not heard any more. */
  turn: number;
  readonly offset: number;
  readonly pace: number;
}

export interface Ending {
  /** When two candidates led at once, or one began while writes of another could still be under way. */
  readonly clashes: readonly string[];
  /** Of all acquisitions, `holder/transitions`. */
  readonly terms: readonly string[];
  /** Who leads in the end, when nothing was disturbed any more for long enough. */
  readonly leaders: readonly string[];
  readonly calls: number;
}

/**
 * Some candidates and an API server, disturbed as the dice say: requests and answers are late, lost, or held up far longer
 * than any lease; processes are paused, end, leave, and begin anew, some under their former name; clocks differ, in what
 * they show and (by a twentieth) in pace; somebody shortens the leader's duration in the Lease.
 *
 * @param dice numbers from 0 to 1; when they are used up, nothing is disturbed any more
 */
export const play = (dice: readonly number[], count = 3): Ending => {
  const server = leaseServer();
  const left = [...dice];
  const throwDie = (): number => left.shift() ?? 0;
  const clashes: string[] = [];
  let [now, calls] = [0, 0];
  let plans: { readonly at: number; readonly run: () => void }[] = [];
  const plan = (at: number, run: () => void): void => void plans.push({ at, run });

  const people = Array.from({ length: count }, (_, index): Someone => {
    const name = "abcdef".charAt(index);
    const [offset, pace] = [throwDie() * 1e6, 0.95 + throwDie() / 10];
    return {
      name,
      offset,
      pace,
      identity: name,
      life: 0,
      turn: 0,
      pausedUntil: 0,
      busyUntil: 0,
      leaving: false,
      state: candidate.initialState,
    };
  });
  const local = (one: Someone): number => one.offset + one.pace * now;
  const leads = (one: Someone): boolean => candidate.remainingTerm(one.state, local(one)) > 0;

  /** Hears it as soon as it is not paused, unless it has gone on meanwhile. */
  const tell = (one: Someone, turn: number, sent: number, input: ElectionInput): void => {
    if (one.turn !== turn) return;
    if (one.pausedUntil > now) return plan(one.pausedUntil, () => tell(one, turn, sent, input));
    const led = leads(one);
    const moment = { sent, now: local(one), random: throwDie() };
    one.state = candidate.step(one.state, input, moment, { identity: one.identity, timing });
    const leaders = people.filter(leads);
    if (leads(one) && leaders.length > 1) clashes.push(`${now}: ${leaders.map(({ name }) => name).join(" and ")}`);
    const busy = people.filter((other) => other !== one && other.busyUntil > now);
    if (leads(one) && !led && busy.length > 0)
      clashes.push(
        `${now}: ${one.name} begins while writes of ${busy.map(({ name }) => name).join(" and ")} are under way`,
      );
    if (leads(one))
      one.busyUntil = now + candidate.remainingTerm(one.state, local(one)) / one.pace + timing.writeTimeout;
    act(one);
  };

  // A fifth of the requests, and of the answers, are late; one in ten of these for very long; some never come.
  const trouble = (): number => {
    const die = throwDie();
    return die < 0.8 ? 1 + die : die < 0.9 ? (die - 0.8) * 60_000 : die < 0.96 ? (die - 0.9) * 2_000_000 : Infinity;
  };

  const act = (one: Someone): void => {
    if (one.leaving) one.state = candidate.leave(one.state);
    if (one.state.type === "releasing") one.busyUntil = 0;
    const { state } = one;
    const turn = (one.turn += 1);
    if (state.type === "over") {
      plan(now + 1000 + throwDie() * 60_000, () => begin(one));
      return;
    }
    const sent = local(one);
    const wait = (ms: number) =>
      plan(now + Math.max(0, ms) / one.pace, () => tell(one, turn, sent, { type: "waited" }));
    if (state.type === "standby") return wait(state.until - sent);
    if (state.type === "leading") return wait(Math.min(state.due, state.heldTerm.until) - sent);
    const request = callOf(state, place, { identity: one.identity, timing }, 1e12 + local(one));
    if (request === undefined) throw new Error(`no call at ${state.type}`);
    calls += 1;
    const arrives = now + trouble();
    const failed = { type: "failed", reason: "late" } as const;
    plan(now + timing.writeTimeout / one.pace, () => tell(one, turn, sent, failed));
    if (arrives < Infinity)
      plan(arrives, () => {
        const input = inputOf(request, server.answer(request));
        const back = now + trouble();
        if (back < Infinity) plan(back, () => tell(one, turn, sent, input));
      });
  };

  const begin = (one: Someone): void => {
    one.life += 1;
    one.identity = throwDie() < 0.5 ? one.identity : `${one.name}${one.life}`;
    one.leaving = false;
    one.busyUntil = Math.min(one.busyUntil, now + timing.writeTimeout);
    one.state = candidate.initialState;
    act(one);
  };

  const disturb = (): void => {
    const one = people[Math.floor(throwDie() * people.length)];
    const kind = throwDie();
    if (one !== undefined && left.length > 0) {
      if (kind < 0.5) one.pausedUntil = now + throwDie() * 90_000;
      else if (kind < 0.7) one.leaving = true;
      else if (kind < 0.85) begin(one);
      else if (kind < 0.95) server.edit({ leaseDurationSeconds: 1 });
      plan(now + throwDie() * 40_000, disturb);
    }
  };

  for (const one of people) act(one);
  plan(throwDie() * 40_000, disturb);
  let calm = Infinity;
  while (now < calm) {
    const [next] = plans.toSorted((a, b) => a.at - b.at);
    if (next === undefined) break;
    plans = plans.filter((one) => one !== next);
    now = next.at;
    next.run();
    if (left.length === 0 && calm === Infinity)
      calm = Math.max(now, ...people.map(({ pausedUntil }) => pausedUntil)) + 5 * 60_000;
  }
  return {
    clashes,
    terms: server.terms,
    leaders: people.filter(leads).map(({ name }) => name),
    calls,
  };
};
