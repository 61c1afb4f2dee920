// Trouble that lasts is waited out without a storm of requests.
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiError, Request } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { refusing, unavailable } from "../fixtures/refusing.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";
import { counting, kindOf } from "./kinds.ts";

/** Workspaces at work side by side. They mostly wait. */
const SIDE_BY_SIDE = 10;
/** How long trouble lasts, in ms. */
const LASTING = 7000;
/** So often one can have tried by then, with pauses of 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 and 6.4 s at least. */
const MOST_ROUNDS = 7;

/** What is answered so much later has been watched by then, in ms. */
const SEEN_BEFORE = 300;

const TROUBLES: readonly (readonly [string, ApiError])[] = [
  ["503", unavailable],
  ["429", { ...unavailable, code: 429, retryAfter: 1000 }],
  ["504", { ...unavailable, code: 504 }],
  ["no answer", { type: "unanswered", cause: "deadline", message: "no answer within 5000 ms" }],
  ["no connection", { type: "unanswered", cause: "never-sent", message: "connect ECONNREFUSED" }],
];

const old = { value: "old", kept: "yes" };

const changes = [
  patching(configMap("patched", { value: "new" })),
  updating(configMap("updated", { value: "new" })),
  deleting(secret("deleted")),
  creating(configMap("created", { value: "new" })),
];

const furnished = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(configMap("patched", old), configMap("updated", old), secret("deleted", old));
  await allowOneService(place);
  return place;
};

/** What the targets are like. */
const targets = async (place: Workspace) => ({
  patched: (await place.read(configMap("patched")))["data"],
  updated: (await place.read(configMap("updated")))["data"],
  deleted: await place.exists(secret("deleted")),
  created: await place.exists(configMap("created")),
});

const committed = {
  patched: { ...old, value: "new" },
  updated: { value: "new" },
  deleted: false,
  created: true,
};
const asBefore = { patched: old, updated: old, deleted: true, created: false };

describe.each([
  ["Committed", changes, committed],
  ["RolledBack", [...changes, ...oneTooMany], asBefore],
])("trouble that lasts, on the way to %s,", (phase, changes, wanted) => {
  it("is waited out without a storm of requests, whichever kind it befalls", async () => {
    const quiet = await furnished();
    const { hook, counts } = counting();
    await quiet.janus(hook);
    expect((await quiet.run(changes)).status.phase).toBe(phase);
    const kinds = [...counts.keys()].filter((kind) => !/^(renew-lock|read-lock):/.test(kind));
    const wrong = await sideBySide(SIDE_BY_SIDE, kinds, async (kind, index) => {
      const [name, error] = TROUBLES[index % TROUBLES.length] ?? ["503", unavailable];
      const place = await furnished();
      const { hook, refused } = refusing((request) => kindOf(request) === kind, LASTING, error);
      await place.janus(hook);
      const story = `${kind} met ${name} for ${LASTING} ms: `;
      try {
        await place.submit(changes);
        // Once more, for a busy machine.
        const txn = await place.over().catch(() => place.over());
        expect(txn.status.phase).toBe(phase);
        expect(await targets(place)).toEqual(wanted);
        expect(refused()).toBeGreaterThan(0);
        // In one round all of a kind may be asked, sixteen side by side.
        expect(refused()).toBeLessThanOrEqual(MOST_ROUNDS * Math.min(16, counts.get(kind) ?? 1));
        return [];
      } catch (error) {
        return [`${story}${String(error).slice(0, 400)}`];
      }
    });
    expect(wrong.flat()).toEqual([]);
  });
});

it("a status of its own that is watched before it is answered ends no pause", async () => {
  const place = await furnished();
  const { hook, refused } = refusing(({ purpose }) => purpose === "change", LASTING);
  await place.janus(hook, async (request, next) => {
    const answer = await next(request);
    if (request.purpose === "record") await sleep(SEEN_BEFORE);
    return answer;
  });
  expect((await place.run(changes)).status.phase).toBe("Committed");
  expect(refused()).toBeGreaterThan(0);
  expect(refused()).toBeLessThanOrEqual(MOST_ROUNDS);
});

const seconds = ({ status: { startedAt = "", completedAt = "" } }: Txn): number =>
  (Date.parse(completedAt) - Date.parse(startedAt)) / 1000;

it.each([
  ["Preparing", "read-target", "Failed", /^no changes were applied: spec\.timeout passed/],
  ["Committing", "change", "RolledBack", /spec\.timeout passed with 0 of 4 changes applied/],
])("trouble that outlasts spec.timeout in %s ends it then, and not before", async (_, purpose, phase, message) => {
  const place = await furnished();
  const { hook } = refusing((request: Request) => request.purpose === purpose, 28_000);
  await place.janus(hook);
  const txn = await place.run(changes, { timeout: "20s" });
  expect(txn.status.phase).toBe(phase);
  expect(txn.status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
    reason: "Timeout",
    message: expect.stringMatching(message) as string,
  });
  // Times in a status are whole seconds.
  expect(seconds(txn)).toBeGreaterThanOrEqual(19);
  expect(await targets(place)).toEqual(asBefore);
});
