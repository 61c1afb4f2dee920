// Tests what is written into the status of objects, and which events tell of it.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import type { Readiness } from "../../../packages/git-journal/src/core/conditions.ts";
import type { DestinationReport } from "../../../packages/git-journal/src/core/journaled-branch.ts";
import { pushedEvent, statusChange } from "../../../packages/git-journal/src/core/status.ts";

const NOW = "2026-03-03T00:00:00Z";
const LATER = "2026-04-04T00:00:00Z";

const object = (status?: JsonObject, generation = 2): KubeObject => ({
  apiVersion: "configbutler.ai/v1alpha1",
  kind: "GitDestination",
  metadata: { name: "prod", namespace: "shop", uid: "u", resourceVersion: "1", generation },
  ...(status === undefined ? {} : { status }),
});

const observed = (generation = 2) => ({ uid: "u", generation });
const READY: Readiness = { type: "ready", reason: "Ready", message: "m" };
const failed = (reason: string, message = "why"): Readiness => ({ type: "failed", reason, message, lasts: true });
const CHECKING: Readiness = { type: "progressing", reason: "Validating", message: "m" };

const report = (more: Partial<DestinationReport> = {}): DestinationReport => ({
  readiness: READY,
  objects: 3,
  pending: 1,
  pushed: { commits: 0, files: 0 },
  ...more,
});

/** The object, after what is wanted of it was written. */
const after = (before: KubeObject, readiness: Readiness, now = NOW, one?: DestinationReport): KubeObject => {
  const { generation = 0 } = before.metadata;
  const told = { observed: observed(generation), readiness, ...(one === undefined ? {} : { report: one }) };
  const change = statusChange(before, told, now);
  return { ...before, status: { ...asObject(before["status"]), ...asObject(change?.patch["status"]) } };
};
const eventsOf = (before: KubeObject, readiness: Readiness): readonly string[] | undefined =>
  statusChange(before, { observed: observed(before.metadata.generation), readiness }, LATER)?.events.map(
    ({ type, reason }) => `${type} ${reason}`,
  );

describe("the status of an object", () => {
  it("is written, and then nothing changes", () => {
    const told = { observed: observed(), readiness: READY, report: report({ lastCommit: "abc", lastPushTime: NOW }) };
    expect(statusChange(object(), told, NOW)?.patch).toMatchObject({
      metadata: { uid: "u" },
      status: { observedGeneration: 2, objects: 3, pending: 1, lastCommit: "abc", lastPushTime: NOW },
    });
    expect(statusChange(after(object(), READY, NOW, told.report), told, LATER)).toBeUndefined();
  });

  it("is patched only where it changes", () => {
    const before = after(object(), READY, NOW, report());
    const told = { observed: observed(), readiness: READY, report: report({ pending: 7 }) };
    expect(statusChange(before, told, LATER)?.patch).toEqual({ metadata: { uid: "u" }, status: { pending: 7 } });
  });

  it("has the URL of a repository, until there is none that can be used", () => {
    const told = { observed: observed(), readiness: READY, url: "https://git.example.com/live.git" };
    const before = { ...object(), status: asObject(statusChange(object(), told, NOW)?.patch["status"]) };
    expect(before.status["url"]).toBe("https://git.example.com/live.git");
    expect(statusChange(before, told, LATER)).toBeUndefined();
    const refused = statusChange(before, { observed: observed(), readiness: failed("InvalidURL") }, LATER);
    expect(refused?.patch["status"]).toMatchObject({ url: null });
  });

  it("says nothing that was found of another version of it, or of another object of its name", () => {
    expect(statusChange(object(), { observed: observed(1), readiness: READY }, NOW)).toBeUndefined();
    expect(
      statusChange(object(), { observed: { uid: "other", generation: 2 }, readiness: READY }, NOW),
    ).toBeUndefined();
  });

  it("heals what somebody else wrote into it", () => {
    const wrong = { conditions: [{ type: "Ready", status: "no" }], observedGeneration: "x" };
    expect(asObject(after(object(wrong), READY)["status"])["conditions"]).toMatchObject([
      { type: "Ready", status: "True" },
    ]);
  });

  it.each<readonly [string, KubeObject, string]>([
    ["is kept while a new process finds out anew", after(object(), READY), "nothing"],
    ["is kept of a server that did not answer", after(object(), failed("ConnectionFailed")), "nothing"],
    ["is not kept of what the objects say no more", after(object(), failed("GitRepoConfigNotFound")), "Validating"],
    [
      "is not kept of an older version",
      { ...after(object(), READY), metadata: { ...object().metadata, generation: 3 } },
      "Validating",
    ],
    ["is told at the beginning", object(), "Validating"],
  ])("%s", (_, before, expected) => {
    const { generation } = before.metadata;
    const change = statusChange(before, { observed: observed(generation), readiness: CHECKING }, LATER);
    expect(change === undefined ? "nothing" : JSON.stringify(change.patch)).toContain(expected);
  });
});

it("what follows from another object is kept until that one was asked", () => {
  const before = after(object(), failed("GitRepoConfigNotReady"));
  const asked = { type: "progressing", reason: "Checking", message: "m" } as const;
  expect(statusChange(before, { observed: observed(), readiness: asked }, LATER)).toBeUndefined();
});

describe("warnings", () => {
  it("are told once per cause, also by a process that comes later", () => {
    const before = after(object(), failed("ConnectionFailed"));
    expect(eventsOf(object(), failed("ConnectionFailed"))).toEqual(["Warning ConnectionFailed"]);
    expect(eventsOf(before, failed("ConnectionFailed", "other words"))).toEqual([]);
    expect(eventsOf(before, failed("AuthenticationFailed"))).toEqual(["Warning AuthenticationFailed"]);
    expect(eventsOf(before, READY)).toEqual([]);
  });

  it("are told again for another version of the object", () => {
    const before = after(object(), failed("ConnectionFailed"));
    const edited = { ...before, metadata: { ...before.metadata, generation: 3 } };
    expect(eventsOf(edited, failed("ConnectionFailed"))).toEqual([]);
    expect(eventsOf(edited, failed("ConnectionFailed", "another server"))).toEqual(["Warning ConnectionFailed"]);
  });

  it("tell of a folder that is another's, although it is written", () => {
    const told = { observed: observed(), readiness: READY, report: report({ conflict: "other" }) };
    expect(statusChange(object(), told, NOW)?.events).toEqual([
      { type: "Warning", reason: "OwnershipConflict", message: "other" },
    ]);
  });
});

describe("what was pushed", () => {
  it.each<readonly [string, DestinationReport["pushed"] | undefined, DestinationReport["pushed"], string | undefined]>([
    ["first", undefined, { commits: 2, files: 12 }, "pushed 12 changes in 2 commits, the last is abcdef012345"],
    [
      "since then",
      { commits: 2, files: 12 },
      { commits: 3, files: 13 },
      "pushed 1 change in 1 commit, the last is abcdef012345",
    ],
    [
      "by a new worker",
      { commits: 9, files: 9 },
      { commits: 1, files: 4 },
      "pushed 4 changes in 1 commit, the last is abcdef012345",
    ],
    ["when nothing was", { commits: 2, files: 12 }, { commits: 2, files: 12 }, undefined],
  ])("%s", (_, before, pushed, message) => {
    expect(pushedEvent(before, { pushed, lastCommit: "abcdef0123456789" })?.message).toBe(message);
  });
});
