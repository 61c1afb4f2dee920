import * as E from "fp-ts/lib/Either.js";
import type { ApiCall, ApiError, KubeObject } from "@janus/controller";
import { messageOf } from "@janus/types";
import { keyOf, preconditionsOf, respond, TARGET_KIND } from "./api-server.ts";
import type { State } from "./state.ts";
import { transactionOf } from "./moment.ts";

type Mutable<A> = { -readonly [K in keyof A]: A[K] };

export const isTarget = (key: string): boolean => key.startsWith(`${TARGET_KIND} `);

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
  const spec = live?.["spec"] as { readonly holderIdentity?: string } | undefined;
  if (spec?.holderIdentity === "somebody" && call.verb === "delete") next.broken = `it deleted somebody's ${key}`;
  return { state: next, answer };
};
