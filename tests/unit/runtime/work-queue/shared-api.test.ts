import type { Api, Request } from "@janus/kube";
import { sharedApi } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { manualClock, settled } from "../../kube/manual-clock.ts";

const request = (path: string): Request => ({ verb: "raw", path });
const object = { apiVersion: "v1", kind: "Status", metadata: {} };

/** An API server that answers when the test says so. */
const bench = (places: number, patience = 100, pauses = false) => {
  const clock = manualClock();
  const underway = new Map<string, () => void>();
  const api: Api = {
    send: (asked) =>
      new Promise((resolve) => underway.set("path" in asked ? asked.path : "", () => resolve(E.right(object)))),
    watch: () => {
      throw new Error("nobody watches");
    },
  };
  const answer = async (path: string): Promise<void> => {
    underway.get(path)?.();
    underway.delete(path);
    await settled();
  };
  return {
    of: sharedApi(api, { places, patience, pauses, clock }),
    clock,
    answer,
    underway: () => [...underway.keys()],
  };
};

describe("an API server that groups share", () => {
  it("is there for one group while all requests of another one hang", async () => {
    const { of, underway, answer } = bench(4);
    for (const path of ["a1", "a2", "a3", "a4"]) void of("a").send(request(path));
    const asked = of("b").send(request("b1"));
    await settled();
    expect(underway()).toEqual(["a1", "a2", "b1"]);
    await answer("b1");
    expect(await asked).toEqual(E.right(object));
    await answer("a1");
    expect(underway()).toEqual(["a2", "a3"]);
  });

  it("never hears of a request whose turn did not come in time", async () => {
    const { of, underway, answer, clock } = bench(1);
    void of("a").send(request("a1"));
    const late = of("b").send(request("b1"));
    await clock.pass(100);
    expect(await late).toMatchObject(E.left({ type: "unanswered", cause: "never-sent" }));
    await answer("a1");
    expect(underway()).toEqual([]);
    expect(clock.planned()).toBe(0);
  });

  it("is left alone for as long as a request took, at most a second, by those that pause", async () => {
    const { of, underway, answer, clock } = bench(1, 100_000, true);
    for (const path of ["a1", "a2", "a3"]) void of("a").send(request(path));
    await clock.pass(30);
    await answer("a1");
    await clock.pass(29);
    expect(underway()).toEqual([]);
    await clock.pass(1);
    expect(underway()).toEqual(["a2"]);
    await clock.pass(10_000);
    await answer("a2");
    await clock.pass(999);
    expect(underway()).toEqual([]);
    await clock.pass(1);
    expect(underway()).toEqual(["a3"]);
  });
});
