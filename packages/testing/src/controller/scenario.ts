// The surroundings of a simulated Transaction: objects, denials and failures.
import type { ApiCall, ApiError, ObjectRef } from "@janus/controller/core";
import type { KubeObject } from "@janus/types";
import type { ApiServer } from "../api-server/respond.ts";
import type { Denied } from "../api-server/denied.ts";
import type { World } from "../api-server/world.ts";

/** The surroundings of the Transaction, and what goes wrong. */
export interface Scenario {
  readonly server: ApiServer;
  readonly serviceAccount: { readonly name: string; readonly denied: readonly Denied[] };
  /** Why the API server refuses a request that it would accept otherwise. */
  readonly refusal: (effect: ApiCall) => ApiError | undefined;
  /** The controller is killed when it has sent this request, counted from 1, and before it has its answer. Default: never. */
  readonly crashAt?: number;
  /** The objects when other clients have done what they do before this request. */
  readonly before: (world: World, effect: ApiCall) => World;
  /** The status that a target is given after a write; `undefined`: it stays as it is. */
  readonly statusOf: (object: KubeObject, place: ObjectRef, item: number) => object | undefined;
}
