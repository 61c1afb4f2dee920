import { type ElectionState, candidate, inputOf, type ElectionInput, readLease } from "@janus/runtime/parts";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { timing } from "./leader-world.ts";

const lease = (holder: string | undefined, transitions: number, resourceVersion: string, seconds = 30): KubeObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { resourceVersion },
  spec: {
    ...(holder === undefined ? {} : { holderIdentity: holder }),
    leaseTransitions: transitions,
    leaseDurationSeconds: seconds,
  },
});
const read = (object?: KubeObject): ElectionInput => ({ type: "read", lease: object });
const written = (object: KubeObject): ElectionInput => ({ type: "written", lease: object });
const failed: ElectionInput = { type: "failed", reason: "no answer in time" };
const conflict: ElectionInput = { type: "conflict" };
const waited: ElectionInput = { type: "waited" };

const me = { identity: "me", timing };
/** `[sent, now]` of each thing heard. */
const through = (from: ElectionState, ...story: readonly (readonly [number, number, ElectionInput])[]): ElectionState =>
  story.reduce((state, [sent, now, input]) => candidate.step(state, input, { sent, now, random: 0 }, me), from);

const leading = through(candidate.initialState, [0, 5, read()], [5, 10, written(lease("me", 1, "1"))]);

describe("a candidate", () => {
  it("takes a Lease that there is not, as term 1, and leads from the sending of its claim", () => {
    expect(through(candidate.initialState, [0, 5, read()])).toMatchObject({
      type: "claiming",
      term: { transitions: 1 },
    });
    expect(leading).toMatchObject({ type: "leading", heldTerm: { until: 5 + timing.renewDeadline }, due: 5_005 });
    expect(candidate.remainingTerm(leading, 6_005)).toBe(timing.renewDeadline - 6_000);
    expect(candidate.remainingTerm(leading, 5 + timing.renewDeadline)).toBe(0);
  });

  it.each([
    ["released", lease("", 6, "9")],
    ["released by client-go, which leaves the holder out", lease(undefined, 6, "9")],
    ["its own, of a former life", lease("me", 6, "9")],
  ])("takes a Lease at once that is %s, as another term", (_, free) => {
    expect(through(candidate.initialState, [0, 5, read(free)])).toMatchObject({
      type: "claiming",
      term: { holder: "me", transitions: 7 },
    });
  });

  it("leaves another's alone for the holder's duration since it was seen to change, whenever it was written", () => {
    const seen = through(candidate.initialState, [0, 100, read(lease("you", 1, "1", 40))]);
    expect(seen).toMatchObject({ type: "standby", observed: { free: 40_100 }, until: 5_100 });
    const again = through(seen, [100, 5_100, waited], [5_100, 5_200, read(lease("you", 1, "1", 40))]);
    expect(again).toMatchObject({ type: "standby", observed: { free: 40_100 } });
    const renewed = through(again, [5_200, 10_200, waited], [10_200, 10_300, read(lease("you", 1, "2", 40))]);
    expect(renewed).toMatchObject({ observed: { free: 50_300 }, until: 15_300 });
    expect(through(again, [5_200, 40_100, waited], [40_100, 40_200, read(lease("you", 1, "1", 40))])).toMatchObject({
      type: "claiming",
      term: { transitions: 2 },
    });
  });

  it("leaves another's alone for its own duration at least, however short the Lease says that the holder's is", () => {
    const seen = through(candidate.initialState, [0, 100, read(lease("you", 1, "1", 1))]);
    expect(seen).toMatchObject({ type: "standby", observed: { free: 100 + timing.leaseDuration } });
  });

  it("waits no longer than until the Lease is free", () => {
    const late = through(
      candidate.initialState,
      [0, 0, read(lease("you", 1, "1"))],
      [0, 28_000, waited],
      [28_000, 28_001, read(lease("you", 1, "1"))],
    );
    expect(late).toMatchObject({ type: "standby", until: 30_000 });
  });

  it("does not take a Lease at once that has vanished before its eyes: its leader may not know yet", () => {
    const seen = through(candidate.initialState, [0, 0, read(lease("you", 1, "1"))], [0, 5_000, waited]);
    expect(through(seen, [5_000, 5_000, read()])).toMatchObject({ type: "standby", observed: { free: 35_000 } });
  });

  it("claims another term when the answer to its claim was lost", () => {
    const lost = through(candidate.initialState, [0, 5, read()], [5, 5_005, failed]);
    expect(lost).toMatchObject({ type: "standby" });
    expect(through(lost, [5_005, 10_005, waited], [10_005, 10_006, read(lease("me", 1, "1"))])).toMatchObject({
      type: "claiming",
      term: { transitions: 2 },
    });
  });

  it("looks again after a claim that was refused, and claims again only what is still free", () => {
    const yours = lease("you", 1, "1");
    const refused = through(
      candidate.initialState,
      [0, 0, read(yours)],
      [0, 30_000, waited],
      [30_000, 30_001, read(yours)],
      [30_001, 30_002, failed],
    );
    expect(refused).toMatchObject({ type: "standby", until: 35_002 });
    const looking = through(refused, [30_002, 35_002, waited]);
    expect(looking.type).toBe("looking");
    expect(through(looking, [35_002, 35_003, read(yours)])).toMatchObject({
      type: "claiming",
      term: { transitions: 2 },
    });
    expect(through(looking, [35_002, 35_003, read(lease("them", 2, "2"))])).toMatchObject({
      type: "standby",
      observed: { record: { holder: "them" }, free: 65_003 },
    });
  });

  it("counts the terms from 1 again when the Lease can hold no higher number", () => {
    expect(through(candidate.initialState, [0, 5, read(lease("", 2 ** 31 - 2, "9"))])).toMatchObject({
      term: { transitions: 2 ** 31 - 1 },
    });
    expect(through(candidate.initialState, [0, 5, read(lease("", 2 ** 31 - 1, "9"))])).toMatchObject({
      term: { transitions: 1 },
    });
  });

  it("does not lead when the answer to its claim came after the renew deadline", () => {
    const late = through(candidate.initialState, [0, 5, read()], [5, 20_005, written(lease("me", 1, "1"))]);
    expect(late.type).toBe("looking");
  });
});

describe("a leader", () => {
  const renewing = through(leading, [10, 5_005, waited]);

  it("renews, and leads on from the sending of the renewal", () => {
    expect(renewing.type).toBe("renewing");
    expect(through(renewing, [5_005, 6_000, written(lease("me", 1, "2"))])).toMatchObject({
      type: "leading",
      heldTerm: { until: 25_005, resourceVersion: "2" },
    });
  });

  it("leads on when a renewal fails, and tries again; but not beyond the deadline of the last one", () => {
    const missed = through(renewing, [5_005, 10_005, failed]);
    expect(missed).toMatchObject({ type: "leading", heldTerm: { until: 20_005 }, due: 10_005 });
    expect(through(missed, [10_005, 10_005, waited], [10_005, 20_005, failed])).toMatchObject({ type: "over" });
    expect(through(missed, [10_005, 20_005, waited])).toMatchObject({ type: "over" });
  });

  it("tries again after a retry period however long it is asked to wait: its term would end meanwhile", () => {
    const refusal = { type: "refused", code: 429, reason: "", message: "slow down", causes: [] } as const;
    const asked = inputOf(readLease({ namespace: "n", name: "l" }), E.left({ ...refusal, retryAfter: 86_400_000 }));
    expect(through(renewing, [5_005, 5_100, asked])).toMatchObject({ type: "leading", due: 10_005 });
    const checking = through(renewing, [5_005, 5_010, conflict]);
    expect(through(checking, [5_010, 5_100, asked])).toMatchObject({ type: "leading", due: 10_010 });
    expect(through(candidate.initialState, [0, 100, asked])).toMatchObject({ type: "standby", until: 5_100 });
    const claiming = through(candidate.initialState, [0, 5, read()]);
    expect(through(claiming, [5, 100, asked])).toMatchObject({ type: "standby", until: 5_100 });
  });

  it("does not count a renewal that changed nothing: others have not seen it", () => {
    const same = through(renewing, [5_005, 5_006, written(lease("me", 1, "1"))]);
    expect(same).toMatchObject({ type: "leading", heldTerm: { until: 20_005 } });
  });

  it("reads the Lease when somebody has written it, and goes on if that did not end its term", () => {
    const checking = through(renewing, [5_005, 5_010, conflict]);
    expect(checking.type).toBe("checking");
    expect(through(checking, [5_010, 5_015, read(lease("me", 1, "7"))])).toMatchObject({
      type: "renewing",
      heldTerm: { resourceVersion: "7", until: 20_005 },
    });
  });

  it.each([
    ["another holds it", lease("you", 2, "7"), "you is the leader now, term 2"],
    ["it is another term of its own", lease("me", 2, "7"), "me is the leader now, term 2"],
    ["somebody has released it", lease("", 1, "7"), "the Lease has no holder any more"],
    ["it is gone", undefined, "the Lease was deleted"],
  ])("stops at once when %s", (_, now, because) => {
    expect(through(renewing, [5_005, 5_010, conflict], [5_010, 5_015, read(now)])).toEqual({ type: "over", because });
  });

  it("does nothing while in doubt, until a renewal that was sent after the doubt has succeeded", () => {
    const suspendedAt = candidate.suspendTerm(renewing, 5_500);
    expect(candidate.remainingTerm(suspendedAt, 5_500)).toBe(0);
    const early = through(suspendedAt, [5_005, 5_600, written(lease("me", 1, "2"))]);
    expect(candidate.remainingTerm(early, 5_600)).toBe(0);
    const sure = through(early, [5_600, 5_600, waited], [5_600, 5_700, written(lease("me", 1, "3"))]);
    expect(candidate.remainingTerm(sure, 5_700)).toBeGreaterThan(0);
  });

  it("stops leading before it gives the Lease back", () => {
    const releasing = candidate.leave(leading);
    expect([releasing.type, candidate.remainingTerm(releasing, 10)]).toEqual(["releasing", 0]);
    expect(through(releasing, [10, 20, written(lease("", 1, "2"))])).toEqual({ type: "over", because: "released" });
  });
});
