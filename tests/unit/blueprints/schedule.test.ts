// Tests the order of phases: every interleaving of two actions with two phases and a deferPhase each.
import { describe, expect, it } from "vitest";
import { type Journal, newJournal, type PhaseRecord } from "../../../packages/blueprints/src/core/journal.ts";
import type { PhaseId } from "../../../packages/blueprints/src/core/phase-context.ts";
import {
  completed,
  failed,
  isAllDone,
  PENDING,
  recordOf,
  running,
  scheduled,
  withRecord,
} from "../../../packages/blueprints/src/core/schedule.ts";

const journalOf = (actions: number, phases: number, hasDefer: boolean): Journal =>
  newJournal({
    serviceAccount: "ops",
    time: "2026-01-01T00:00:00.000Z",
    seed: "",
    spec: {},
    actions: Array.from({ length: actions }, () => ({
      blueprint: {},
      phases: Array.from({ length: phases }, () => PENDING),
      ...(hasDefer ? { deferPhase: PENDING } : {}),
      configMaps: {},
    })),
  });

const keyOf = ({ action, phase }: PhaseId): string => `${action}/${phase}`;

const ended = (journal: Journal, id: PhaseId, isGood: boolean): Journal => {
  const record = recordOf(journal, id) ?? PENDING;
  const after = withRecord(journal, id, isGood ? completed(record, {}, {}, 1) : failed(record, { message: "no" }, 1));
  return scheduled(isGood || id.phase === "defer" || after.error !== undefined ? after : { ...after, error: "no" }, 1);
};

/** All journals that can follow, with what has ended in them; of a deletion, too. */
const explore = (start: Journal, visit: (journal: Journal) => void): number => {
  const seen = new Set<string>();
  const open = [scheduled(start, 0)];
  for (let journal = open.pop(); journal !== undefined; journal = open.pop()) {
    const key = JSON.stringify(journal);
    if (seen.has(key)) continue;
    seen.add(key);
    visit(journal);
    for (const id of running(journal)) for (const isGood of [true, false]) open.push(ended(journal, id, isGood));
    if (journal.deletedAt === undefined) open.push(scheduled({ ...journal, deletedAt: "2026-01-01T00:00:00Z" }, 1));
  }
  return seen.size;
};

const isEnded = ({ state }: PhaseRecord): boolean => state === "complete" || state === "failed";

describe.each([
  [1, 1, false],
  [1, 2, true],
  [2, 2, false],
  [2, 2, true],
])("%i actions of %i phases, with a deferPhase: %s", (actions, phases, hasDefer) => {
  it("come to an end on every way, in order, and never begin a phase after a failure or a deletion", () => {
    let ends = 0;
    const states = explore(journalOf(actions, phases, hasDefer), (journal) => {
      for (const { phases: records, deferPhase = PENDING } of journal.actions) {
        const begun = records.findLastIndex(({ state }) => state !== "pending");
        // In order: all before one that has begun are complete.
        expect(records.slice(0, Math.max(0, begun)).every(({ state }) => state === "complete")).toBe(true);
        const isDeferring = deferPhase.state !== "pending";
        expect(isDeferring && (begun === -1 || records.some(({ state }) => state === "running"))).toBe(false);
      }
      // Something is running, or all is done.
      expect(running(journal).length > 0).toBe(!isAllDone(journal));
      if (!isAllDone(journal)) return;
      ends += 1;
      for (const { phases: records, deferPhase } of journal.actions) {
        const hasBegun = records.some(({ state }) => state !== "pending");
        expect(records.every(isEnded) || journal.error !== undefined || journal.deletedAt !== undefined).toBe(true);
        expect(deferPhase === undefined || isEnded(deferPhase) === hasBegun).toBe(true);
      }
    });
    expect(ends).toBeGreaterThan(1);
    expect(states).toBeGreaterThan(ends);
  });
});

it("what has failed begins no further phase of another action, and lets end what runs", () => {
  const start = scheduled(journalOf(2, 2, true), 0);
  const after = ended(start, { action: 0, phase: 0 }, false);
  expect(running(after).map(keyOf)).toEqual(["0/defer", "1/0"]);
  expect(running(ended(after, { action: 1, phase: 0 }, true)).map(keyOf)).toEqual(["0/defer", "1/defer"]);
});
