// Carries out one effect of a Transaction, and tells what happened.
import type { Api, Discovery } from "@janus/kube";
import { elapsed, type Round, type TrackedObject, withHeartbeat } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import {
  afterWrite,
  type Effect,
  type Happened,
  isDraft,
  isOwn,
  type Memory,
  type Settings,
} from "../../core/index.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { lookUp, sendRequest } from "./api-request.ts";

/** The API server, for the Transactions of a namespace. */
export type ApiOf = (namespace: string) => Api;

/** @param draftsApiOf the same for its Drafts */
export const performing =
  (apiOf: ApiOf, draftsApiOf: ApiOf, discovery: Discovery, settings: Settings, { answered }: Telemetry) =>
  async (round: Round, tracked: TrackedObject<Memory>, effect: Effect): Promise<Happened> => {
    const [sent, began] = [tracked.now(), elapsed()];
    const { txn } = tracked.memory;
    const api = (isDraft(txn) ? draftsApiOf : apiOf)(txn.metadata.namespace);
    if (!("call" in effect)) {
      const found = await lookUp(withHeartbeat(api, round.heartbeat), discovery, txn, effect);
      answered(round, txn, effect, began, E.isLeft(found) ? found.left : undefined);
      const at = tracked.now();
      return E.isLeft(found)
        ? { type: "lookup-failed", effect, error: found.left, at }
        : { type: "found", ...found.right, at };
    }
    // Nobody can write a Transaction that is gone.
    const answer =
      tracked.isGone && isOwn(effect)
        ? E.right(afterWrite(txn, effect))
        : await sendRequest(api, txn, effect, settings);
    answered(round, txn, effect, began, E.isLeft(answer) ? answer.left : undefined);
    return { type: "answered", effect, answer, sent, at: tracked.now() };
  };
