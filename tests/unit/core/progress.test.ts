import { Transaction } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { projection } from "../../../packages/controller/src/core/state/status-progress.ts";
import { learn } from "./learn.ts";
import { change, underway } from "./underway.ts";

it.each([
  ["at most once a second", 20, 1000],
  ["and never more than a tenth of the time", 3000, 30_000],
  ["but half a minute after a write that met an outage", 600_000, 630_000],
])("progress is written %s: a write of %d ms is followed by the next one after %d ms", (_, took, pause) => {
  const start = underway("Committing", [change("Create", "a"), change("Create", "b")], {
    direction: "forward",
    cursor: 1,
  });
  const journal = journalIn(start.known);
  if (journal === undefined) throw new Error("no journal");
  const sentAt = start.known.statusWritten.sent + 1000;
  const written = (now: number) => projection({ ...start, now }, journal) as readonly ApiCall[];
  expect(written(sentAt - 1)).toEqual([]);
  const [write] = written(sentAt);
  if (write === undefined) throw new Error("nothing is written");
  const answer = E.right(Transaction.encode(start.txn) as unknown as KubeObject);
  const at = { ...start, known: learn(start, write, answer, sentAt + took, sentAt) };
  expect(projection({ ...at, now: sentAt + pause - 1 }, journal)).toEqual([]);
  expect(projection({ ...at, now: sentAt + pause }, journal)).toHaveLength(1);
});
