import type { Api, KubeObject, Request } from "@janus/kube";
import { candidate, leader, leaderRecordOf, type ObservedLease, whileLeading } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { leaseServer, timing } from "./leader-world.ts";
import { manualClock, settled } from "../../kube/manual-clock.ts";

/** Candidates for one Lease; requests that `hangs` tells of are never answered. */
const election = () => {
  const clock = manualClock();
  const server = leaseServer();
  const hung: { is: (request: Request) => boolean } = { is: () => false };
  const requests: Request[] = [];
  const api: Api = {
    send: (request) => {
      requests.push(request);
      return hung.is(request) ? new Promise(() => {}) : Promise.resolve(server.answer(request));
    },
    watch: () => {
      throw new Error("nothing is watched");
    },
  };
  const place = { namespace: "ns", name: "leader" };
  const run = (identity: string, observed?: ObservedLease) =>
    leader(api, { place, identity, timing, clock, observed, random: () => 0, wall: () => clock.now() });
  return { clock, server, hung, requests, api, run };
};

describe("the leadership", () => {
  it("is kept by renewing, while others stand by", async () => {
    const { clock, run } = election();
    const [a, b] = [run("a"), run("b")];
    await clock.pass(10 * timing.leaseDuration);
    expect(await a.elected).toEqual({ holder: "a", transitions: 1 });
    expect([a.left() > 0, b.left()]).toEqual([true, 0]);
    expect(b.state()).toMatchObject({ type: "standby", observed: { record: { holder: "a" } } });
  });

  it("passes on when calls hang: the leader stops at its renew deadline, another leads after the lease duration", async () => {
    const { clock, hung, run } = election();
    const [a, b] = [run("a"), run("b")];
    await clock.pass(1);
    hung.is = (request) => request.verb === "mergePatch";
    await clock.pass(timing.renewDeadline - 2);
    expect(a.left()).toBeGreaterThan(0);
    await clock.pass(2);
    expect(a.left()).toBe(0);
    expect(await a.over).toMatch(/could not be renewed in time/);
    hung.is = () => false;
    await clock.pass(timing.leaseDuration + timing.retryPeriod - timing.renewDeadline);
    expect(await b.elected).toEqual({ holder: "b", transitions: 2 });
  });

  it("passes on at once to one who has seen long enough before that the leader does not renew it", async () => {
    const { clock, server, hung, run } = election();
    const a = run("a");
    await clock.pass(1);
    hung.is = () => true;
    const record = server.lease();
    if (record === undefined) throw new Error("there is no Lease");
    const seen = leaderRecordOf(record);
    const observed = {
      record: seen,
      free: candidate.freeFrom(seen, undefined, clock.now(), { identity: "b", timing }),
    };
    await clock.pass(timing.leaseDuration);
    hung.is = () => false;
    const b = run("b", observed);
    await settled();
    expect(await b.elected).toEqual({ holder: "b", transitions: 2 });
    expect(a.left()).toBe(0);
  });

  it("is that of one alone when somebody edits the duration in the Lease, which the leader puts right", async () => {
    const { clock, server, run } = election();
    const [a, b] = [run("a"), run("b")];
    await clock.pass(100);
    for (const leaseDurationSeconds of [1, 2 ** 31 - 1]) {
      server.edit({ leaseDurationSeconds });
      await clock.pass(2 * timing.retryPeriod);
      expect(server.lease()).toMatchObject({ spec: { holderIdentity: "a", leaseDurationSeconds: 30 } });
      expect([a.left() > 0, b.left()]).toEqual([true, 0]);
    }
  });

  it("passes on within a retry period when its leader leaves", async () => {
    const { clock, run } = election();
    const [a, b] = [run("a"), run("b")];
    await clock.pass(100);
    const left = a.leave();
    await settled();
    expect([await left, a.left()]).toEqual(["released", 0]);
    await clock.pass(timing.retryPeriod);
    expect(await b.elected).toEqual({ holder: "b", transitions: 2 });
  });

  it("is never had by one who leaves before that", async () => {
    const { clock, run } = election();
    const [a, b] = [run("a"), run("b")];
    await clock.pass(100);
    expect(await b.leave()).toBe("stopped before it became the leader");
    expect(await b.elected).toBeUndefined();
    expect(a.left()).toBeGreaterThan(0);
  });

  it("is renewed at once when it is in doubt", async () => {
    const { clock, run } = election();
    const a = run("a");
    await clock.pass(100);
    a.suspend();
    expect(a.left()).toBe(0);
    await clock.pass(1);
    expect(a.left()).toBeGreaterThan(timing.renewDeadline - 100);
  });
});

describe("the API while leading", () => {
  const request: Request = { verb: "raw", path: "/version" };
  const sent: Request[] = [];
  const api: Api = {
    send: (request) => {
      sent.push(request);
      return Promise.resolve(E.right({ kind: "Version" } as KubeObject));
    },
    watch: () => {
      throw new Error("nothing is watched");
    },
  };

  it("cuts off at the renew deadline what is under way", async () => {
    await whileLeading(api, { left: () => 2_000 }, 15_000).send(request);
    await whileLeading(api, { left: () => 20_000 }, 15_000).send(request);
    await whileLeading(api, { left: () => 20_000 }, 15_000).send({ ...request, deadline: 10 });
    expect(sent.map(({ deadline }) => deadline)).toEqual([2_000, 15_000, 10]);
  });

  it("sends nothing when the term is over, and says so", async () => {
    sent.length = 0;
    const answer = await whileLeading(api, { left: () => 0 }, 15_000).send(request);
    expect(answer).toMatchObject({ left: { type: "unanswered", cause: "never-sent" } });
    expect(sent).toEqual([]);
  });
});
