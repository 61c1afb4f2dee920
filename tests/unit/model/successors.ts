import { FINALIZER } from "@janus/api";
import { decide, done, isTerminal, resolvedTargets, renewals } from "@janus/controller";
import { keyOf } from "./api-server.ts";
import { OWN } from "./scenario.ts";
import type { State } from "./state.ts";
import { arrivals, doings, without } from "./interludes.ts";
import { later, type Next, reread, rested, type Rules, situationOf } from "./moment.ts";
import { LEAP, runEffects, type Round } from "./run-effects.ts";

/** So many pauses with nothing done in between, and the rest of a long wait is over in one. */
const PATIENCE = 4;

/** Whether nothing more is done but, for a Failed one, another attempt much later. */
export const isOver = (state: State): boolean => {
  if (!state.world.objects.has(OWN)) return state.flights.length === 0;
  const situation = situationOf(state);
  const { status, metadata } = situation.txn;
  const over = isTerminal(status.phase) && !(metadata.finalizers ?? []).includes(FINALIZER);
  return state.flights.length === 0 && over && decide(situation).type !== "run";
};

/** The states that may follow; none once the Transaction is over and nothing is under way any more. */
export const successors = (state: State, rules: Rules): readonly Next[] => {
  const noticed = [
    ...doings(state, OWN),
    ...arrivals(state, rules, OWN),
    ...(isStale(state) ? [{ state, story: [] }] : []),
  ].map((next) => ({
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
  const due = isTerminal(situation.txn.status.phase)
    ? []
    : renewals(situation, resolvedTargets(situation.txn, state.known));
  const gone = !state.world.objects.has(OWN);
  const step = gone ? done : due.length > 0 ? ({ type: "run", effects: due } as const) : decide(situation);
  switch (step.type) {
    case "run":
      runEffects(round, state, step.effects, [], "observed");
      return round.found;
    case "wait": {
      if (isOver(state) && (situation.txn.status.recovery?.attempts ?? 0) >= rules.recoveries) return [];
      const patience = state.pauses < PATIENCE;
      const until = patience ? Math.max(step.until, state.now + 10) : Math.max(step.until, state.now + LEAP);
      const story = [`  waits ${patience ? "" : "a long time "}(${step.because})`];
      const waited = { ...later(rested(state, rules), until), pauses: state.pauses + 1 };
      return [{ state: waited, story }, ...arrivals(state, rules, undefined)];
    }
    case "done":
      return state.flights.flatMap((flight) => [
        ...arrivals(state, rules, keyOf(flight.call.place)),
        { state: { ...state, flights: without(state.flights, flight) }, story: ["  what was under way never arrives"] },
      ]);
  }
};
