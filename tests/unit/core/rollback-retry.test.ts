import { journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { type Item, RETRY_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { Note, Position } from "../../../packages/controller/src/core/state/journal.ts";
import { retryRollback } from "../../../packages/controller/src/core/transitions/rollback-retry.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, former, underway } from "./underway.ts";
import { learn } from "./learn.ts";

it("asks anew where kinds are served: one may have come back since", () => {
  const { txn, known, ...rest } = underway(
    "Failed",
    [change("Delete", "a", "Gadget")],
    { direction: "back", cursor: 0, reached: 1, since: NOW },
    { resources: new Map([["v1/Gadget", null]]) },
  );
  const items = txn.status.items.map((item) =>
    item.state.type === "prepared"
      ? {
          ...item,
          state: {
            type: "rollback-failed",
            before: item.state.before,
            error: "the API server does not serve Gadget in v1",
          } as const,
        }
      : item,
  );
  const asked = { ...txn, metadata: { ...txn.metadata, annotations: { [RETRY_ROLLBACK]: "please" } } };
  const at: ReconcileContext = { ...rest, known, txn: { ...asked, status: { ...asked.status, items } } };
  const step = decide(at);
  const [effect] = step.type === "run" ? step.effects : [];
  expect(effect).toMatchObject({ purpose: "record" });
  const after = effect?.purpose === "record" ? learn(at, effect, E.right(former("Transaction", "txn"))) : known;
  expect(after.resources.size).toBe(0);
});

/** Failed, with both changes not rolled back, the first one of which is retried only on request; an automatic retry is due. */
const due = (asked: boolean): ReconcileContext => {
  const changes = [change("Create", "made"), change("Delete", "gone")];
  const position: Position = { direction: "back", cursor: -1, reached: 2, since: NOW };
  const at = underway("Failed", changes, position);
  const journal = journalIn(at.known);
  if (journal === undefined) throw new Error("there is no journal");
  const failed = { type: "rollback-failed", error: "not now" } as const;
  const notes = new Map<number, Note>([
    [0, { ...failed, retryOnRequest: true }],
    [1, failed],
  ]);
  const items = at.txn.status.items.map((item): Item => {
    if (item.state.type !== "prepared") throw new Error("it is not prepared");
    return { ...item, state: { ...failed, before: item.state.before } };
  });
  const annotations = asked ? { [RETRY_ROLLBACK]: "please" } : {};
  const txn = { ...at.txn, metadata: { ...at.txn.metadata, annotations }, status: { ...at.txn.status, items } };
  return { ...at, txn, known: { ...at.known, journal: { type: "read", journal: { ...journal, notes } } } };
};

it.each([
  ["automatically, only what needs no request", false, ["note-1"]],
  ["on request, all", true, ["note-0", "note-1"]],
] as const)("retries %s", (_, asked, cleared) => {
  const step = retryRollback(due(asked));
  const [effect] = step.type === "run" ? step.effects : [];
  if (effect === undefined || !("call" in effect) || effect.call.verb !== "mergePatch")
    throw new Error("no checkpoint");
  const { data } = effect.call.body as { readonly data: Readonly<Record<string, string | null>> };
  expect(Object.keys(data).filter((key) => data[key] === null)).toEqual(cleared);
});
