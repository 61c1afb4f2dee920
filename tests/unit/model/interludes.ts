import * as E from "fp-ts/lib/Either.js";
import { isTerminal, type KubeObject } from "@janus/controller";
import { keyOf } from "./api-server.ts";
import { type Deed, deeds, did, leaseDeeds, wishes } from "./others.ts";
import { OWN } from "./scenario.ts";
import type { State } from "./state.ts";
import { type Next, type Rules, spent, type Sort, transactionOf } from "./moment.ts";
import { landed, tellOf, isTarget } from "./landed.ts";

export const without = <A>(list: readonly A[], item: A): readonly A[] => list.filter((other) => other !== item);

/** A write that was under way arrives; one of a former leader only where nothing stops it. */
export const arrivals = (state: State, rules: Rules, key: string | undefined): readonly Next[] =>
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
export const doings = (state: State, key: string): readonly Next[] => {
  const sorted = sortOf(key);
  const after = sorted === undefined ? undefined : spent(state, sorted.sort);
  return sorted === undefined || after === undefined ? [] : sorted.deeds.flatMap((deed) => doing(after, key, deed));
};

/** One of these deeds; nothing where it cannot be done. */
export const doing = (state: State, key: string, deed: Deed): readonly Next[] => {
  const world = did(state.world, key, deed);
  if (world === undefined) return [];
  const story = [`  somebody ${deed.name} ${key}`];
  if (!isTarget(key)) return [{ state: { ...state, world }, story }];
  const gone = deed.name.startsWith("deletes");
  return [
    {
      state: {
        ...state,
        world,
        without: alone(state, key, deed, world.objects.get(key)),
        touched: new Set([...state.touched, key]),
        deleted: gone ? new Set([...state.deleted, key]) : state.deleted,
      },
      story,
    },
  ];
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
export const interludes = (state: State, rules: Rules, key: string): readonly Next[] => [
  ...arrivals(state, rules, key),
  ...doings(state, key),
];
