// The state of a simulation between two requests.
import type { Transaction } from "@janus/api";
import type { ApiCall, Call, EventSpec, Observations } from "@janus/controller/core";
import type { Instant } from "@janus/types";
import type { World } from "../api-server/world.ts";

/** A request, and what the API server said if it refused it. */
export interface SentRequest {
  readonly call: Call;
  readonly as: ApiCall["as"];
  readonly purpose: ApiCall["purpose"];
  readonly dryRun: boolean;
  readonly item: number | undefined;
  readonly error: string | undefined;
}

/** How far a simulation has got. */
export interface State {
  readonly world: World;
  readonly txn: Transaction;
  readonly known: Observations;
  readonly now: Instant;
  readonly requests: readonly SentRequest[];
  readonly events: readonly EventSpec[];
  /** Rounds that a request failed in since the Transaction last waited for something. */
  readonly failures: number;
}
