import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { FindOwned } from "../../../packages/controller/src/core/state/effect.ts";
import { unlistedWarnings } from "../../../packages/controller/src/core/preflight/unlisted-kinds.ts";
import { NOW } from "./arbitrary-situation.ts";
import { allowed, change, former, observing, seen, tried, underway } from "./underway.ts";
import type { Unlisted } from "../../../packages/controller/src/core/state/listings.ts";
import { found, learn } from "./learn.ts";

const DELETED = [change("Delete", "a")];

/** Everything is locked, read and allowed; what the target owns is not known. */
const start = observing(
  underway("Preparing", DELETED, { direction: "forward", cursor: 0 }, { serviceAccount: "there" }),
  {
    0: {
      preflight: { permissions: allowed("delete", "create", "update"), trial: tried(seen(former("ConfigMap", "a"))) },
      target: seen(former("ConfigMap", "a")),
    },
  },
);

/** What is asked for until there is an end to it, the same kinds being unlisted each time; and what is decided then. */
const asking = (unlisted: readonly Unlisted[]) => {
  let at = start;
  const asked: FindOwned[] = [];
  for (;;) {
    const step = decide(at);
    if (step.type === "wait") at = { ...at, now: step.until };
    else {
      const next = step.type === "run" ? step.effects[0] : undefined;
      if (next?.purpose === "record" && JSON.stringify(next).includes("trying again"))
        at = { ...at, known: learn(at, next, E.right(former("Transaction", "t")), at.now) };
      else if (next?.purpose !== "find-owned")
        return { asked, took: at.now - NOW, warnings: unlistedWarnings(at.known).join() };
      else {
        asked.push(next);
        const now = at.now + 10;
        at = { ...at, now, known: found(at, { effect: next, found: { owned: [], unlisted } }, now) };
      }
    }
  }
};

const broken = (mayComeYet: boolean): Unlisted => ({
  resource: "pods.metrics.k8s.io",
  why: "the server is currently unable to handle the request",
  mayComeYet,
});

describe("a kind that could not be listed", () => {
  it("is listed again alone, for a bounded time", () => {
    const { asked, took } = asking([broken(true)]);
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.map(({ only }) => only)).toEqual([undefined, ...asked.slice(1).map(() => ["pods.metrics.k8s.io"])]);
    expect(took).toBeLessThan(40_000);
  });

  it("is reported before the first change, with the reason", () => {
    expect(asking([broken(true)]).warnings).toContain(
      "pods.metrics.k8s.io (the server is currently unable to handle the request)",
    );
  });

  it("is listed once where no other try would help", () => {
    expect(asking([broken(false)]).asked).toHaveLength(1);
  });

  it("is nobody's business where there is none", () => {
    expect(asking([])).toMatchObject({ asked: [{}], warnings: "" });
  });
});
