// Waits that a server asks for are kept, and told.
import { setTimeout } from "node:timers/promises";
import type { Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { recording } from "../fixtures/recording.ts";
import { refusing, unavailable } from "../fixtures/refusing.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { transaction, type Txn, workspace } from "../fixtures/workspace.ts";

/** Targets that are read side by side at first. */
const FIRST = 1;

const ready = ({ status }: Txn) => status?.conditions.find(({ type }) => type === "Ready");

/** Told off the critical path, or seen by the watch. */
const isAside = ({ purpose }: Request): boolean => purpose === "event" || purpose === "reflect";

const of =
  (purpose: string) =>
  (request: Request): boolean =>
    request.purpose === purpose;

/** What a Retry-After asks for, in ms. */
const ASKED = 1500;

const PURPOSES = [
  "read-transaction",
  "discovery",
  "finalizer",
  "record",
  "lock",
  "read-target",
  "dry-run",
  "store",
  "change",
  "checkpoint",
  "restore",
  "release-lock",
];

it("asks nothing more for as long as the server wants to be left alone, whatever happens meanwhile", async () => {
  const early = await sideBySide(PURPOSES.length, PURPOSES, async (purpose) => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    await allowOneService(place);
    let answered: number | undefined;
    let met = false;
    const asked: string[] = [];
    const overloaded: Hook = async (request, next) => {
      const since = performance.now() - (answered ?? Number.NaN);
      if (since < ASKED && !isAside(request))
        asked.push(`${request.purpose}, ${Math.round(since)} ms after ${purpose}`);
      if (request.purpose !== purpose || met) return next(request);
      met = true;
      await setTimeout(50); // what goes out beside it is on its way by then
      answered = performance.now();
      // A reason to look at it.
      void setTimeout(300).then(() =>
        place.patch({ ...transaction("txn"), metadata: { name: "txn", labels: { a: "b" } } }),
      );
      return E.left({ ...unavailable, code: 429, reason: "TooManyRequests", retryAfter: ASKED });
    };
    await place.janus(overloaded);
    await place.run([...["a", "b"].map((name) => patching(configMap(name, { v: "1" }))), ...oneTooMany]);
    return answered === undefined ? [`there was no ${purpose}`] : asked;
  });
  expect(early.flat()).toEqual([]);
});

it("asks no more of a hundred things when one of them does not get through", async () => {
  const place = await workspace();
  const targets = Array.from({ length: 100 }, (_, n) => configMap(`c${n}`));
  const { hook, refused } = refusing(of("read-target"), 5000);
  await place.janus(hook);
  const { status } = await place.run(targets.map((target) => creating(target)));
  expect(status.phase).toBe("Committed");
  expect(refused()).toBeGreaterThan(3 * FIRST);
  // So many at a time, until it is known how large they are; after pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and 3.2 s at least.
  expect(refused()).toBeLessThanOrEqual(7 * FIRST);
});

it.each([
  ["Pending", "discovery", /^trying again to discover ConfigMap in v1: the server is currently unable/],
  ["Preparing", "read-target", /^trying again to read ConfigMap .*\/a: the server is currently unable/],
  ["Committing", "change", /^trying again to change ConfigMap .*\/a: the server is currently unable/],
  ["RollingBack", "restore", /^trying again to delete Service .*\/allowed: the server is currently unable/],
])("says where people look what it waits for: %s", async (phase, purpose, message) => {
  const place = await workspace();
  await place.create(configMap("a"));
  await allowOneService(place);
  const { hook, stop } = refusing(of(purpose), Number.POSITIVE_INFINITY);
  const { hook: keep, requests } = recording();
  await place.janus(keep, hook);
  await place.submit([patching(configMap("a", { v: "1" })), ...oneTooMany]);
  const isTold = async () => {
    const txn = await place.txn();
    return [txn.status?.phase, ready(txn)?.status, ready(txn)?.reason, message.test(ready(txn)?.message ?? "")];
  };
  await expect.poll(isTold).toEqual([phase, "False", "Waiting", true]);
  stop();
  const { status } = await place.over();
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.filter((condition) => /trying again/.test(condition.message))).toEqual([]);
  // One write for all of it.
  const told = requests.filter(
    (request) => request.purpose === "record" && JSON.stringify(request).includes("trying again"),
  );
  expect(told).toHaveLength(1);
});

it("comes back after ever longer pauses while a change is not answered for, not for its own status", async () => {
  const place = await workspace();
  await place.create(configMap("a"));
  const { hook, refused } = refusing(of("change"), 10_000);
  await place.janus(hook);
  const { status } = await place.run([patching(configMap("a", { v: "1" }))]);
  expect(status.phase).toBe("Committed");
  // 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 and 6.4 s at least.
  expect(refused()).toBeLessThanOrEqual(8);
});
