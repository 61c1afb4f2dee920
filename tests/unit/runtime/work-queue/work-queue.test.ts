import { type QueueEvent, newWorkQueue, type Requeue } from "@janus/runtime/parts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manualClock, settled } from "../../kube/manual-clock.ts";

const done: Requeue = { type: "done" };
const failed: Requeue = { type: "failed" };

/** A queue whose work ends when the test says so. */
const bench = ({ concurrency = 1, random = 1, groupOf = (key: string) => key } = {}) => {
  const clock = manualClock();
  const started: string[] = [];
  const underway = new Map<string, (requeue: Requeue | Error) => void>();
  const seen: QueueEvent[] = [];
  const twice: string[] = [];
  const it = newWorkQueue({
    concurrency,
    groupOf,
    backoff: { first: 100, cap: 1000 },
    clock,
    random: () => random,
    observe: (event) => seen.push(event),
    work: (key) => {
      if (underway.has(key)) twice.push(key);
      started.push(key);
      return new Promise((resolve, reject) =>
        underway.set(key, (requeue) => {
          underway.delete(key);
          if (requeue instanceof Error) reject(requeue);
          else resolve(requeue);
        }),
      );
    },
  });
  const end = async (key: string, requeue: Requeue | Error = done) => {
    const finish = underway.get(key);
    if (finish === undefined) throw new Error(`${key} is not under way`);
    finish(requeue);
    await settled();
  };
  return { ...it, clock, started, seen, twice, end };
};

describe("a queue", () => {
  it("works on a key once, however often it was added before its turn", async () => {
    const { add, started, end } = bench();
    for (const key of ["a", "b", "b", "b"]) add(key);
    await end("a");
    await end("b");
    expect(started).toEqual(["a", "b"]);
  });

  it("moves a key that waits to the group that it has when it is added again", async () => {
    const groups = new Map([["late", "drafts"]]);
    const groupOf = (key: string): string => groups.get(key) ?? (key.startsWith("draft") ? "drafts" : "running");
    const { add, started, end } = bench({ groupOf });
    for (const key of ["draft-1", "draft-2", "draft-3", "late"]) add(key);
    groups.set("late", "running");
    add("late");
    await end("draft-1");
    await end(started[1] ?? "");
    expect(started.slice(0, 3)).toContain("late");
    for (const key of started.slice(2)) await end(key);
    await end("draft-3");
    expect(started.toSorted()).toEqual(["draft-1", "draft-2", "draft-3", "late"]);
  });

  it("works on a key again that was added during the work on it", async () => {
    const { add, started, end } = bench({ concurrency: 2 });
    add("a");
    add("a");
    add("a");
    expect(started).toEqual(["a"]);
    await end("a");
    expect(started).toEqual(["a", "a"]);
    await end("a");
    expect(started).toEqual(["a", "a"]);
  });

  it("works on as many keys at once as it may", async () => {
    const { add, started, end } = bench({ concurrency: 2 });
    for (const key of ["a", "b", "c"]) add(key);
    expect(started).toEqual(["a", "b"]);
    await end("b");
    expect(started).toEqual(["a", "b", "c"]);
  });

  it("lets every key have its turn, also beside one that always comes back", async () => {
    const { add, started, end } = bench();
    for (const key of ["hot", "a", "b"]) add(key);
    for (const key of ["hot", "a", "b", "hot"]) {
      add("hot");
      await end(key);
    }
    expect(started).toEqual(["hot", "a", "b", "hot", "hot"]);
  });

  it("has workers left for others when all work of one group hangs, and takes groups in turn", async () => {
    const { add, started, end } = bench({ concurrency: 4, groupOf: ([group = ""]) => group });
    for (const key of ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]) add(key);
    expect(started).toEqual(["a1", "a2", "b1", "c1"]);
    await end("b1");
    expect(started.slice(4)).toEqual(["b2"]);
    await end("a1");
    expect(started.slice(5)).toEqual([]);
    await end("c1");
    expect(started.slice(5)).toEqual(["a3"]);
  });

  it("adds a key later, at the earliest of the times asked for", async () => {
    const { addAfter, started, clock, end } = bench();
    addAfter("a", 500);
    addAfter("a", 300);
    addAfter("a", 400);
    await clock.pass(299);
    expect(started).toEqual([]);
    await clock.pass(1);
    expect(started).toEqual(["a"]);
    await end("a");
    await clock.pass(1000);
    expect(started).toEqual(["a"]);
  });

  it("counts a look that begins early as the one that was planned", async () => {
    const { add, addAfter, started, clock, end } = bench();
    addAfter("a", 500);
    add("a");
    await end("a");
    await clock.pass(1000);
    expect(started).toEqual(["a"]);
  });

  it("keeps a time that was asked for during the work", async () => {
    const { add, addAfter, started, clock, end } = bench();
    add("a");
    addAfter("a", 500);
    await end("a");
    await clock.pass(500);
    expect(started).toEqual(["a", "a"]);
  });

  it("comes back to a key when its work says so", async () => {
    const { add, started, clock, end } = bench();
    add("a");
    await end("a", { type: "after", ms: 50 });
    await clock.pass(49);
    expect(started).toEqual(["a"]);
    await clock.pass(1);
    expect(started).toEqual(["a", "a"]);
  });

  it("waits longer after each failure, up to a cap, and starts over after a success", async () => {
    const { add, started, clock, end } = bench();
    add("a");
    const waits: number[] = [];
    for (const requeue of [failed, failed, new Error("boom"), failed, failed, failed, done]) {
      await end("a", requeue);
      if (requeue === done) break;
      const before = clock.now();
      while (started.length === waits.length + 1) await clock.pass(50);
      waits.push(clock.now() - before);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
    add("a");
    await end("a", failed);
    await clock.pass(100);
    expect(started).toHaveLength(9);
  });

  it("does not come back earlier than the server asked", async () => {
    const { add, started, clock, end } = bench();
    add("a");
    await end("a", { type: "failed", atLeast: 5000 });
    await clock.pass(4999);
    expect(started).toHaveLength(1);
    await clock.pass(1);
    expect(started).toHaveLength(2);
  });

  it("does not come back earlier than the server asked for any event, before or after the answer", async () => {
    const { add, started, clock, end } = bench();
    add("a");
    add("a");
    await end("a", { type: "failed", atLeast: 5000 });
    await clock.pass(1000);
    add("a");
    await clock.pass(3999);
    expect(started).toHaveLength(1);
    await clock.pass(1);
    expect(started).toHaveLength(2);
    await end("a");
    add("a");
    expect(started).toHaveLength(3);
  });

  it("returns at once to an urgent key, whatever Retry-After says, before or after the answer", async () => {
    const { add, urge, started, clock, end } = bench();
    add("a");
    await end("a", { type: "failed", atLeast: 5000 });
    await clock.pass(1000);
    urge("a");
    expect(started).toHaveLength(2);
    urge("a");
    add("a");
    await end("a", { type: "failed", atLeast: 5000 });
    expect(started).toHaveLength(3);
    // The answer that came since is heeded again.
    await end("a", { type: "failed", atLeast: 5000 });
    add("a");
    await clock.pass(4999);
    expect(started).toHaveLength(3);
    await clock.pass(1);
    expect(started).toHaveLength(4);
  });

  it("spreads those that failed together", () => {
    const lookedAfter60 = [0, 1].map(async (random) => {
      const { add, clock, end, started } = bench({ random });
      add("a");
      await end("a", failed);
      await clock.pass(60);
      return started.length;
    });
    return expect(Promise.all(lookedAfter60)).resolves.toEqual([2, 1]);
  });

  it("survives work that throws, at once or later, and says so", async () => {
    const clock = manualClock();
    const errors: unknown[] = [];
    let worked = 0;
    const { add } = newWorkQueue({
      concurrency: 1,
      backoff: { first: 100, cap: 1000 },
      clock,
      random: () => 0,
      observe: (event) => event.type === "threw" && errors.push(event.error),
      work: () => {
        worked += 1;
        if (worked === 1) throw new Error("at once");
        if (worked === 2) return Promise.reject(new Error("later"));
        return Promise.resolve(done);
      },
    });
    add("a");
    await clock.pass(10_000);
    expect(worked).toBe(3);
    expect(errors).toEqual([new Error("at once"), new Error("later")]);
  });

  it("drains: what is under way ends, nothing new begins", async () => {
    const { add, addAfter, drain, started, end, clock } = bench();
    add("a");
    add("b");
    addAfter("c", 10);
    let drained = false;
    const draining = drain().then(() => (drained = true));
    expect(clock.planned()).toBe(0);
    add("d");
    add("a");
    await clock.pass(100);
    expect(drained).toBe(false);
    await end("a", failed);
    await draining;
    await clock.pass(10_000);
    expect(started).toEqual(["a"]);
    expect(clock.planned()).toBe(0);
    await drain();
  });

  it("drains at once when nothing is under way", async () => {
    await expect(bench().drain()).resolves.toBeUndefined();
  });

  it("tells how many wait, and how long each did", async () => {
    const { add, end, clock, seen } = bench();
    add("a");
    add("b");
    await clock.pass(30);
    add("b");
    await end("a");
    await end("b", failed);
    expect(seen).toEqual([
      { type: "queued", key: "a", depth: 1 },
      { type: "started", key: "a", depth: 0, waited: 0 },
      { type: "queued", key: "b", depth: 1 },
      { type: "ended", key: "a", took: 30, requeue: done },
      { type: "started", key: "b", depth: 0, waited: 30 },
      { type: "ended", key: "b", took: 0, requeue: failed },
    ]);
  });

  it("never works on a key twice at once, never exceeds its concurrency, and looks at every key after its last add", async () => {
    const key = fc.constantFrom("a", "b", "c", "d");
    const requeue: fc.Arbitrary<Requeue | Error> = fc.oneof(
      fc.constant(done),
      fc.constant(failed),
      fc.constant(new Error("boom")),
      fc.nat(500).map((ms) => ({ type: "after" as const, ms })),
    );
    const command = fc.oneof(
      fc.record({ type: fc.constant("add" as const), key }),
      fc.record({ type: fc.constant("addAfter" as const), key, ms: fc.nat(500) }),
      fc.record({ type: fc.constant("end" as const), nth: fc.nat(3), requeue }),
      fc.record({ type: fc.constant("pass" as const), ms: fc.nat(300) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command), fc.integer({ min: 1, max: 3 }), async (commands, concurrency) => {
        const { add, addAfter, clock, started, end, seen, twice } = bench({ concurrency });
        const owed = new Set<string>();
        let looked = 0;
        const underway = () => {
          const ended = seen.filter(({ type }) => type === "ended").map(({ key }) => key);
          return started.filter(
            (key, at) =>
              started.slice(0, at + 1).filter((k) => k === key).length > ended.filter((k) => k === key).length,
          );
        };
        const look = () => {
          for (const key of started.slice(looked)) owed.delete(key);
          looked = started.length;
          expect(underway().length).toBeLessThanOrEqual(concurrency);
        };
        for (const command of commands) {
          if (command.type === "add" || command.type === "addAfter") owed.add(command.key);
          if (command.type === "add") add(command.key);
          if (command.type === "addAfter") addAfter(command.key, command.ms);
          const key = command.type === "end" ? underway()[command.nth] : undefined;
          if (command.type === "end" && key !== undefined) await end(key, command.requeue);
          if (command.type === "pass") await clock.pass(command.ms);
          look();
        }
        for (let at = 0; at < 20; at += 1) {
          for (const key of underway()) await end(key);
          await clock.pass(1000);
          look();
        }
        expect(twice).toEqual([]);
        expect([...owed]).toEqual([]);
        expect(underway()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
