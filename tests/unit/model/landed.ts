import * as E from "fp-ts/lib/Either.js";
import type { ItemState } from "@janus/api";
import type { ApiCall, ApiError, KubeObject } from "@janus/controller";
import { messageOf } from "@janus/types";
import { keyOf, preconditionsOf, respond, TARGET_KIND } from "./api-server.ts";
import { OWN, targetKey } from "./scenario.ts";
import type { State } from "./state.ts";
import { transactionOf } from "./moment.ts";

type Mutable<A> = { -readonly [K in keyof A]: A[K] };

export const isTarget = (key: string): boolean => key.startsWith(`${TARGET_KIND} `);

/** Ends of an item, of which only a retry makes an applied one again. */
const SETTLED: readonly ItemState["type"][] = ["rejected", "unknown", "rollback-failed", "restored"];

const statesOf = ({ world, own }: State): readonly ItemState["type"][] =>
  transactionOf(world.objects.get(OWN) ?? own).status.items.map(({ state }) => state.type);

/** What of an item that is settled is not left as it is. */
const unsettled = (state: State, next: State, key: string): string | undefined => {
  const settled = statesOf(state);
  if (isTarget(key)) {
    const index = settled.findIndex((type, at) => targetKey(at) === key && SETTLED.includes(type));
    return index < 0 ? undefined : `it wrote to ${key}, although changes[${index}] is ${settled[index]}`;
  }
  const now = statesOf(next);
  const index = key === OWN ? settled.findIndex((type, at) => type === "restored" && now[at] !== type) : -1;
  return index < 0 ? undefined : `changes[${index}] was restored, and is said to be ${now[index]}`;
};

export const tellOf = (answer: E.Either<ApiError, KubeObject>): string =>
  E.isRight(answer) ? "ok" : messageOf(answer.left);

/** What the world is after a write of ours, whoever learns of it. */
export const landed = (
  state: State,
  call: ApiCall["call"],
): { readonly state: State; readonly answer: E.Either<ApiError, KubeObject> } => {
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
      next.broken = `it wrote to ${key}, which another client created`;
  }
  const { uid, resourceVersion } = preconditionsOf(call);
  if (isTarget(key) && call.verb !== "create" && (uid === undefined || resourceVersion === undefined))
    next.broken = `it would have written to any ${key}`;
  const touched = unsettled(state, next, key);
  if (touched !== undefined) next.broken = touched;
  const spec = live?.["spec"] as { readonly holderIdentity?: string } | undefined;
  if (spec?.holderIdentity === "somebody" && call.verb === "delete") next.broken = `it deleted somebody's ${key}`;
  return { state: next, answer };
};
