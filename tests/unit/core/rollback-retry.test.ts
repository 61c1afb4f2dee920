import { RETRY_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, former, underway } from "./underway.ts";

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
  const after =
    effect?.purpose === "record" ? effect.onAnswer(known, E.right(former("Transaction", "txn")), NOW, NOW) : known;
  expect(after.resources.size).toBe(0);
});
