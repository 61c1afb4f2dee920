// Tests what is measured of an ActionSet: by the process that has recorded it, once, with names of closed sets.
import { describe, expect, it } from "vitest";
import { ACTION_NAMES, measuresBetween } from "../../../packages/blueprints/src/core/measures.ts";
import { type Journal, newJournal, type PhaseRecord } from "../../../packages/blueprints/src/core/journal.ts";
import { type Memory, remember } from "../../../packages/blueprints/src/core/memory.ts";
import { actionSetMetrics } from "../../../packages/blueprints/src/shell/metrics.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const time = (seconds: number): string => new Date(START + 1000 * seconds).toISOString();

const journalOf = (phases: readonly PhaseRecord[], deferPhase?: PhaseRecord): Journal =>
  newJournal({
    serviceAccount: "ops",
    time: time(0),
    seed: "",
    spec: {},
    actions: [
      {
        blueprint: {
          phases: phases.map((_, at) => ({ func: at === 0 ? "KubeTask" : "Mine", name: `p${at}` })),
          deferPhase: { func: "Wait", name: "d" },
        },
        phases,
        ...(deferPhase === undefined ? {} : { deferPhase }),
        configMaps: {},
      },
    ],
  });

const memoryOf = (state: string | undefined, journal?: Journal, actions: readonly string[] = ["backup"]): Memory => {
  const memory = remember({
    apiVersion: "cr.kanister.io/v1alpha1",
    kind: "ActionSet",
    metadata: { name: "a", namespace: "shop", uid: "u", resourceVersion: "1" },
    spec: { actions: actions.map((name) => ({ name })) },
    ...(state === undefined ? {} : { status: { state } }),
  });
  return journal === undefined
    ? memory
    : { ...memory, isKnown: true, journal: { type: "read", journal, uid: "j", resourceVersion: "1" } };
};

const running: PhaseRecord = { state: "running", attempt: 1, startedAt: time(1) };
const complete: PhaseRecord = { ...running, state: "complete", endedAt: time(3) };
const failed: PhaseRecord = { ...running, state: "failed", endedAt: time(4) };

describe("what is measured", () => {
  it("has each phase that has ended, deferPhases as well, with what it took", () => {
    const before = memoryOf("running", journalOf([running, running], running));
    const after = memoryOf("running", journalOf([complete, failed], complete));
    expect(measuresBetween(before, after, START)).toEqual([
      { type: "phase", func: "KubeTask", result: "complete", seconds: 2 },
      { type: "phase", func: "other", result: "failed", seconds: 3 },
      { type: "phase", func: "Wait", result: "complete", seconds: 2 },
    ]);
    expect(measuresBetween(after, after, START)).toEqual([]);
  });

  it("has the end of an ActionSet, by the known names of its actions", () => {
    const journal = journalOf([complete]);
    const before = memoryOf("running", journal, ["backup", "mine"]);
    const after = memoryOf("complete", journal, ["backup", "mine"]);
    expect(measuresBetween(before, after, START + 5000)).toEqual([
      { type: "ended", result: "complete", actions: ["backup", "other"], seconds: 5 },
    ]);
    expect(measuresBetween(after, memoryOf("complete", undefined), START)).toEqual([]);
  });

  it("has no duration of one that was refused", () => {
    expect(measuresBetween(memoryOf("pending"), memoryOf("failed"), START)).toEqual([
      { type: "ended", result: "failed", actions: ["backup"], seconds: undefined },
    ]);
  });

  it("has each further attempt, and each result that was lost", () => {
    const before = memoryOf("running", journalOf([running]));
    const again = memoryOf("running", journalOf([{ ...running, attempt: 2 }]));
    expect(measuresBetween(before, again, START)).toEqual([{ type: "retried" }]);
    const lost = memoryOf("running", journalOf([{ ...failed, attempt: 2, isInterrupted: true }]));
    expect(measuresBetween(again, lost, START)).toEqual([
      { type: "phase", func: "KubeTask", result: "failed", seconds: 3 },
      { type: "interrupted", func: "KubeTask" },
    ]);
  });

  it("has the end of an attempt that is followed by another one", () => {
    const before = memoryOf("running", journalOf([running]));
    const after = memoryOf("running", journalOf([{ ...running, state: "retrying", retryAt: time(9) }]));
    expect(measuresBetween(before, after, START + 4000)).toEqual([
      { type: "phase", func: "KubeTask", result: "failed", seconds: 3 },
    ]);
    const given = memoryOf("running", journalOf([{ ...running, state: "failed" }]));
    expect(measuresBetween(after, given, START + 5000)).toEqual([]);
  });

  it("says that another process had begun it, once, and not of one that it reads again", () => {
    const found = memoryOf("running", journalOf([running]));
    expect(measuresBetween(memoryOf("running"), found, START)).toEqual([{ type: "resumed" }]);
    expect(measuresBetween({ ...memoryOf("running"), isKnown: true }, found, START)).toEqual([]);
    // What a crash has left of one that has ended.
    expect(measuresBetween(memoryOf("complete"), memoryOf("complete", journalOf([complete])), START)).toEqual([]);
  });
});

it("the metrics have Kanister's name for ends, and labels of closed sets", async () => {
  const { registry, count } = actionSetMetrics(() => new Map([["running", 2]]));
  count({ type: "ended", result: "failed", actions: [...ACTION_NAMES], seconds: 1 });
  count({ type: "ended", result: "failed", actions: ["backup"], seconds: undefined });
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain('kanister_action_set_resolutions_total{resolution="success"} 0');
  expect(lines).toContain('kanister_action_set_resolutions_total{resolution="failure"} 2');
  expect(lines).toContain('janus_actionset_duration_seconds_count{action="backup",result="failed"} 1');
  expect(lines.filter((line) => line.startsWith("janus_actionsets{"))).toEqual([
    'janus_actionsets{state="pending"} 0',
    'janus_actionsets{state="running"} 2',
    'janus_actionsets{state="complete"} 0',
    'janus_actionsets{state="failed"} 0',
  ]);
});
