import { RETRY_ROLLBACK } from "@janus/api";
import type { ApiError, Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { creating, patching, updating } from "../fixtures/changes.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { diesAt } from "../fixtures/dying.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { refusing } from "../fixtures/refusing.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const denied: ApiError = { type: "refused", code: 422, reason: "Invalid", message: "denied by policy", causes: [] };

const isRestoreOf =
  (name: string) =>
  (request: Request): boolean =>
    request.purpose === "restore" && "name" in request && request.name === name;

/** A policy denies the rollback of b. */
const denying: Hook = async (request, next) => (isRestoreOf("b")(request) ? E.left(denied) : next(request));

const valueOf = async ({ read }: Workspace, name: string): Promise<unknown> =>
  ((await read(configMap(name)))["data"] as { readonly value?: unknown }).value;
const held = (...finalizers: readonly string[]) => ({ ...configMap("a"), metadata: { name: "a", finalizers } });
const phaseOf = async ({ txn }: Workspace): Promise<unknown> => (await txn()).status?.phase;

/** Ends as Failed with its locks still held: a is settled, and next to b, which a retry is due for. */
const failedWithLocks = (place: Workspace): Promise<void> =>
  diesAt(place, ({ purpose }) => purpose === "release-lock", "before", denying);

it.each([
  ["Patch", patching],
  ["Update", updating],
  ["Create", creating],
] as const)(
  "a retry does not look at a %s again that is rolled back, and that somebody has edited since",
  async (type, changing) => {
    const place = await workspace();
    if (type !== "Create") await place.create(configMap("a", { value: "old" }));
    await place.create(configMap("b", { value: "old" }));
    await allowOneService(place);
    const [a, b] = [changing(configMap("a", { value: "new" })), patching(configMap("b", { value: "new" }))];
    await place.submit([a, b, ...oneTooMany]);
    await failedWithLocks(place);
    expect(await phaseOf(place)).toBe("Failed");
    await (type === "Create" ? place.create : place.patch)(configMap("a", { value: "theirs" }));
    await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [RETRY_ROLLBACK]: "" } } });
    await place.janus();
    expect((await place.over()).status.phase).toBe("RolledBack");
    expect([await valueOf(place, "a"), await valueOf(place, "b")]).toEqual(["theirs", "old"]);
  },
);

it("a retry leaves alone what is rolled back while its locks cannot be released", async () => {
  const place = await workspace({ recoveryDelay: 5000 });
  await place.create(configMap("a", { value: "old" }), configMap("b", { value: "old" }));
  await allowOneService(place);
  const both = ["a", "b"].map((name) => patching(configMap(name, { value: "new" })));
  await place.submit([...both, ...oneTooMany]);
  let isDenied = true;
  let areHeld = true;
  await place.janus(async (request, next) => {
    if (areHeld && request.purpose === "release-lock") return E.left(denied);
    if (!isDenied && request.purpose === "restore") areHeld = false;
    return isDenied ? denying(request, next) : next(request);
  });
  await expect.poll(() => phaseOf(place)).toBe("Failed");
  await place.patch(configMap("a", { value: "theirs" }));
  isDenied = false;
  expect((await place.over()).status.phase).toBe("RolledBack");
  expect([await valueOf(place, "a"), await valueOf(place, "b")]).toEqual(["theirs", "old"]);
});

it("an automatic retry does not delete what was left on purpose, since somebody may have come to rely on it", async () => {
  const place = await workspace({ recoveryDelay: 3000 });
  await place.create(configMap("b", { value: "old" }));
  await allowOneService(place);
  const both = [creating(configMap("a", { value: "new" })), patching(configMap("b", { value: "new" }))];
  await place.submit([...both, ...oneTooMany]);
  /** As another Transaction; without data it withdraws what it has applied. */
  const apply = (data: object = {}) =>
    kubectlWith(
      { stdin: JSON.stringify(within(place.namespace, { ...configMap("a"), data })) },
      "apply",
      "--server-side",
      "--field-manager=janus-other-11111111-2222-4333-8444-555555555555",
      "-f",
      "-",
    );
  const { hook, reached, open } = gate(isChangeOf("one-too-many"));
  const died = diesAt(place, ({ purpose }) => purpose === "release-lock", "before", denying, hook);
  await reached;
  expect(await apply({ more: "1" })).toMatchObject({ code: 0 });
  open();
  await died;
  expect(await apply()).toMatchObject({ code: 0 });
  await place.janus();
  await expect.poll(async () => (await place.txn()).status.items[1]).toMatchObject({ rolledBack: true });
  expect((await place.over()).status).toMatchObject({
    phase: "Failed",
    items: [{ error: expect.stringContaining("is not deleted") as string }, {}, {}, {}],
  });
  expect(await valueOf(place, "a")).toBe("new");
});

it("says again why it is rolled back when it goes on after an API server that has refused for a while", async () => {
  const place = await workspace();
  const names = ["a", "b", "c", "d", "e"];
  await place.create(...names.map((name) => configMap(name, { value: "old" })));
  await allowOneService(place);
  await place.submit([...names.map((name) => patching(configMap(name, { value: "new" }))), ...oneTooMany]);
  const { hook, reached, open } = gate(isRestoreOf("a"));
  await place.janus(refusing(isRestoreOf("e"), 4000).hook, hook);
  const ready = async () => {
    const { reason, message } = (await place.txn()).status?.conditions?.find(({ type }) => type === "Ready") ?? {};
    return `${reason}: ${message}`;
  };
  await expect.poll(ready).toMatch(/^Waiting: trying again to update ConfigMap .*\/e: /u);
  await reached;
  // It is written beside the write that is held here.
  await expect.poll(ready).toMatch(/^CommitFailed: .*one-too-many.*exceeded quota/u);
  open();
  expect((await place.over()).status.phase).toBe("RolledBack");
});

it("tells of each change that it is rolled back, also where the next one has to wait", async () => {
  const place = await workspace();
  await place.create(configMap("b", { value: "old" }));
  await allowOneService(place);
  await place.submit([creating(held("example.com/hold")), patching(configMap("b", { value: "new" })), ...oneTooMany]);
  const { hook, reached, open } = gate(isChangeOf("one-too-many"));
  await place.janus(hook);
  await reached;
  await place.remove(configMap("a"));
  open();
  await expect
    .poll(async () => (await place.txn()).status.conditions.find(({ type }) => type === "Ready")?.message)
    .toMatch(/waiting for .*a/u);
  await place.patch(held());
  expect((await place.over()).status.phase).toBe("RolledBack");
  const toldOf = async () =>
    (await eventsOf(place.namespace, "txn"))
      .filter(({ reason }) => reason === "ItemRolledBack")
      .map(({ message }) => message.replace(/.*\/(\S+) was rolled back$/u, "$1"));
  await expect.poll(toldOf).toEqual(expect.arrayContaining(["a", "allowed", "b"]));
});
