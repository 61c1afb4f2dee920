import { holderIdentity, REQUEST_YIELD, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { yieldLocks } from "../../../packages/controller/src/core/locks/lock-yield.ts";
import { resolvedTargets } from "../../../packages/controller/src/core/state/target-resolution.ts";
import type { KubeObject } from "@janus/types";
import { learn } from "./learn.ts";
import { transaction } from "./transaction.ts";
import { change, underway } from "./underway.ts";

const changes = [change("Patch", "a"), change("Patch", "b")];
const requester = { namespace: "shop", name: "other", uid: "99999999-2222-3333-4444-555555555555" };

/** The phase of a Transaction with this target, as it is known where the first of two targets is locked. */
const phaseOf = (target: string): unknown => {
  const { txn, ...at } = underway("Preparing", changes, { direction: "forward", cursor: 0 });
  const annotations = { [REQUEST_YIELD]: holderIdentity(requester) };
  const asked = { ...at, txn: { ...txn, metadata: { ...txn.metadata, annotations } } };
  const locked = new Map([...resolvedTargets(txn, at.known)].slice(0, 1));
  const step = yieldLocks(asked, locked);
  const [effect] = step?.type === "run" ? step.effects : [];
  if (effect === undefined || !("call" in effect)) throw new Error("it is not looked who asks");
  const other = Transaction.encode(transaction([change("Patch", target)])) as unknown as KubeObject;
  const object = { ...other, metadata: { ...other.metadata, ...requester }, status: { phase: "Committing" } };
  return learn(asked, effect, E.right(object)).yieldRequester?.phase;
};

it("is for a Transaction that wants one of the locks, and not for one that wants only what is not locked yet", () => {
  expect(phaseOf("a")).toBe("Committing");
  expect(phaseOf("b")).toBeUndefined();
});
