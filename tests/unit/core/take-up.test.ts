import { Transaction } from "@janus/api";
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { assert, describe, expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { noObservations } from "../../../packages/controller/src/core/state/observations.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { heard } from "./learn.ts";
import { change, refused, underway } from "./underway.ts";

const FORWARD = { direction: "forward", cursor: 0, until: 2 } as const;
const start = underway("Committing", [change("Patch", "a"), change("Patch", "b")], FORWARD);
const nothing: ReconcileContext = { ...start, known: noObservations(NOW) };
const { journal } = start.known;
assert(journal !== undefined);
const takenUp: ReconcileContext = { ...nothing, known: { ...nothing.known, journal } };

const only = (at: ReconcileContext): ApiCall => {
  const step = decide(at);
  assert(step.type === "run" && step.effects.length === 1);
  const [effect] = step.effects;
  assert(effect !== undefined && "call" in effect);
  return effect;
};

describe("a process that takes up a Transaction whose changes are being applied", () => {
  it("reads the journal, and then writes the status, so that what a former process has decided cannot be written any more", () => {
    expect(only(nothing)).toMatchObject({ purpose: "read-journal" });
    const first = only(takenUp);
    const { uid, resourceVersion } = takenUp.txn.metadata;
    expect(first).toMatchObject({
      purpose: "record",
      call: { subresource: "status", body: { metadata: { uid, resourceVersion } } },
    });
    const { known } = heard(takenUp, first, E.right(Transaction.encode(start.txn) as unknown as KubeObject));
    const next = decide({ ...takenUp, known });
    assert(next.type === "run");
    expect(next.effects.map(({ purpose }) => purpose)).not.toContain("record");
  });

  it("does nothing else until that is answered with success", () => {
    const first = only(takenUp);
    for (const answer of [refused(409), refused(503), refused(403)]) {
      const { known } = heard(takenUp, first, answer);
      expect(only({ ...takenUp, known })).toMatchObject({ purpose: "record" });
    }
  });
});
