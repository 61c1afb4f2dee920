// Tests that a change that a watch shows meets its request, whichever comes first, and that hits and misses are counted.
import type { Clock } from "@janus/kube";
import type { JsonObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SeenChange } from "../../../packages/git-journal/src/core/correlation.ts";
import { fingerprint } from "../../../packages/git-journal/src/core/file-content.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import { attribution, type Authors } from "../../../packages/git-journal/src/shell/attribution.ts";

const object = (value: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "app", namespace: "shop", uid: "u", resourceVersion: "7" },
  data: { value },
});

const request = (user: string, value = "new"): JsonObject => ({
  operation: "UPDATE",
  resource: { group: "", version: "v1", resource: "configmaps" },
  namespace: "shop",
  name: "app",
  userInfo: { username: user },
  object: object(value),
  oldObject: object("old"),
});

const change = (value = "new", resourceVersion = "7"): SeenChange => ({
  place: { group: "", version: "v1", resource: "configmaps", namespace: "shop", name: "app" },
  operation: "UPDATE",
  content: fingerprint(sanitised(object(value))),
  replicas: undefined,
  uid: "u",
  resourceVersion,
});

/** Time passes when it is told to. */
const handClock = (): Clock & { readonly pass: (ms: number) => void } => {
  let now = 0;
  let timers: readonly { readonly at: number; readonly run: () => void }[] = [];
  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run };
      timers = [...timers, timer];
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    pass: (ms) => {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
    },
  };
};

const ALICE = { type: "user", name: "alice" };
const UNKNOWN = { type: "unknown" };

const countsOf = async ({ registry }: Authors): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    (await registry.getMetricsAsJSON()).flatMap(({ name, values }) =>
      values.map(({ value, labels }) => [[name, ...Object.values(labels)].join(" "), value]),
    ),
  );

describe("a change", () => {
  it("has its author once", async () => {
    const authors = attribution();
    authors.record(request("alice"));
    expect(authors.authorOf(change())).toEqual(ALICE);
    expect(authors.authorOf(change())).toEqual(UNKNOWN);
    expect(await countsOf(authors)).toEqual({
      gitopsreverser_enrich_hits_total: 1,
      gitopsreverser_enrich_misses_total: 1,
      "janus_git_misses_total NoRequest": 1,
      "janus_git_misses_total SeveralUsers": 0,
      gitopsreverser_kv_evictions_total: 0,
    });
  });

  it("of several users is a miss of its own reason", async () => {
    const authors = attribution();
    authors.record(request("alice"));
    authors.record(request("bob"));
    expect(authors.authorOf(change())).toEqual(UNKNOWN);
    expect(await countsOf(authors)).toMatchObject({ "janus_git_misses_total SeveralUsers": 1 });
  });

  it("a minute later has none", () => {
    const clock = handClock();
    const authors = attribution(clock);
    authors.record(request("alice"));
    clock.pass(60_000);
    expect(authors.authorOf(change())).toEqual(UNKNOWN);
  });

  it("more requests than are kept are counted", async () => {
    const authors = attribution();
    for (let at = 0; at < 12; at += 1) authors.record(request("alice"));
    expect(await countsOf(authors)).toMatchObject({ gitopsreverser_kv_evictions_total: 2 });
    expect(await countsOf(authors)).toMatchObject({ gitopsreverser_kv_evictions_total: 2 });
  });

  it("awaited, has the author whose request comes within half a second", async () => {
    const clock = handClock();
    const authors = attribution(clock);
    const awaited = authors.awaitedAuthorOf(change());
    clock.pass(499);
    authors.record(request("alice", "other"));
    authors.record(request("alice"));
    expect(await awaited).toEqual(ALICE);
  });

  it("awaited, has no author after half a second", async () => {
    const clock = handClock();
    const authors = attribution(clock);
    const awaited = authors.awaitedAuthorOf(change());
    clock.pass(500);
    expect(await awaited).toEqual(UNKNOWN);
    authors.record(request("alice"));
    expect(authors.authorOf(change())).toEqual(ALICE);
  });

  it("awaited, does not wait where there is a request, or are those of several users", async () => {
    const authors = attribution(handClock());
    authors.record(request("alice"));
    expect(await authors.awaitedAuthorOf(change())).toEqual(ALICE);
    authors.record(request("alice"));
    authors.record(request("bob"));
    expect(await authors.awaitedAuthorOf(change())).toEqual(UNKNOWN);
  });

  it("concurrent put and get: in whatever order requests and changes come, each request is the author of one change at most", async () => {
    const event = fc.record({ what: fc.constantFrom("request", "change", "time"), value: fc.constantFrom("x", "y") });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
        const clock = handClock();
        const authors = attribution(clock);
        const asked: Promise<unknown>[] = [];
        for (const { what, value } of events)
          if (what === "request") authors.record(request("alice", value));
          else if (what === "time") clock.pass(200);
          else asked.push(authors.awaitedAuthorOf(change(value)));
        clock.pass(500);
        const hits = (await Promise.all(asked)).filter((by) => JSON.stringify(by) === JSON.stringify(ALICE)).length;
        expect(hits).toBeLessThanOrEqual(events.filter(({ what }) => what === "request").length);
        const counts = await countsOf(authors);
        expect(counts["gitopsreverser_enrich_hits_total"]).toBe(hits);
        expect(counts["gitopsreverser_enrich_misses_total"]).toBe(asked.length - hits);
      }),
    );
  });
});
