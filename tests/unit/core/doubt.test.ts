import { type Change, fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall, Step } from "../../../packages/controller/src/core/state/effect.ts";
import type { Attempt } from "../../../packages/controller/src/core/state/forward-observations.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpointed, former, later, observing, refused, seen, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";

/** Purpose and body of the first request. */
const first = (step: Step): object | undefined => {
  if (step.type !== "run") return step;
  const [effect] = step.effects;
  return effect !== undefined && "call" in effect && "body" in effect.call
    ? { purpose: effect.purpose, body: effect.call.body }
    : effect;
};

const begun = { direction: "forward", cursor: 0 } as const;

describe("a Delete that was accepted, and that finalizers held up", () => {
  const attempt: Attempt = { type: "accepted", sent: NOW };
  const after = (object: KubeObject | undefined): Step =>
    decide(
      observing(underway("Committing", [change("Delete", "pod-0"), change("Create", "next")], begun), {
        0: { forward: { write: attempt }, target: seen(object) },
      }),
    );

  it.each([
    ["when it is gone", undefined],
    [
      "when another client has created it again at once, as a controller does",
      { ...former("ConfigMap", "pod-0"), metadata: { name: "pod-0", uid: "uid-of-another", resourceVersion: "9" } },
    ],
  ])("is in %s", (_, object) => {
    expect(first(after(object))).toMatchObject({
      purpose: "checkpoint",
      body: { data: { position: JSON.stringify({ direction: "forward", cursor: 1 }) } },
    });
  });
});

it("does not take for its own a deletion of another client's that finalizers hold up", () => {
  const going = former("ConfigMap", "a", {
    metadata: { deletionTimestamp: "2026-01-01T11:59:00Z", finalizers: ["x/y"] },
  });
  const write = { type: "refused", sent: NOW, code: 409, message: "it has moved", moved: true } as const;
  const at = observing(underway("Committing", [change("Delete", "a")], begun), {
    0: { forward: { write }, target: seen(going) },
  });
  const late = decide({ ...at, now: NOW + at.txn.spec.timeout });
  expect(first(late)).toMatchObject({
    purpose: "record",
    body: { status: { phase: "RollingBack", items: [{ committed: false }] } },
  });
});

it("takes every change for perhaps made from where the journal was lost", () => {
  const changes = [change("Patch", "a"), change("Delete", "b"), change("Create", "c")];
  const start = underway("Committing", changes, begun, { journal: { type: "missing" } });
  const made = former("ConfigMap", "a", {
    metadata: { managedFields: [{ manager: fieldManager({ name: "x", uid: UID }) }] },
  });
  // All of the first two had been made before it was lost.
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "journal" || ask.purpose === "checkpoint") return checkpointed(at, ask);
    if (ask.purpose === "read-target" && ask.call.place.name === "a") return E.right(made);
    if (ask.purpose === "change" && ask.call.verb !== "delete") return E.right(former("ConfigMap", "c"));
    return refused(404);
  };
  const { at, asked } = later(start, 60_000, answer);
  expect(at.txn.status.phase).toBe("Committed");
  expect(asked.filter(({ purpose }) => purpose === "change").map(({ call }) => call.place.name)).toEqual(["c"]);
});

it.each(["Patch", "Update", "Delete"] as const)(
  "does not make a %s that is meant for one version, when others have but reported a status since",
  (type) => {
    const meant = { ...change(type, "a"), resourceVersion: "1" };
    const before = former("ConfigMap", "a", { data: { a: "old" } });
    const object = { ...before, status: { seen: true }, metadata: { ...before.metadata, resourceVersion: "2" } };
    const write = { type: "refused", sent: NOW, code: 409, message: "it has moved", moved: true } as const;
    const step = decide(
      observing(underway("Committing", [meant], begun), { 0: { before, forward: { write }, target: seen(object) } }),
    );
    expect(first(step)).toMatchObject({ purpose: "record", body: { status: { phase: "RollingBack" } } });
    expect(JSON.stringify(first(step))).toContain("ConfigMap shop/a is no longer at resourceVersion 1");
  },
);

const owned = (manager: string) => ({
  managedFields: [{ manager, operation: "Update", apiVersion: "v1", fieldsV1: { "f:data": { "f:a": {} } } } as const],
});

it.each([
  ["Patch", owned("person"), "unknown"],
  // Its mark stays whatever anybody does with the fields …
  ["Update", owned("person"), "rejected"],
  // … but not if somebody clears all marks.
  ["Patch", {}, "unknown"],
  ["Update", {}, "unknown"],
] as const)(
  "does not say of a %s without answer, all of whose fields another client has changed (%o), but that it is %s",
  (type, metadata, fate) => {
    const before = former("ConfigMap", "a", { data: { a: "old" }, metadata: owned("setup") });
    const { managedFields: _, ...rest } = before.metadata;
    const object = { ...before, data: { a: "theirs" }, metadata: { ...rest, ...metadata, resourceVersion: "2" } };
    const start = observing(underway("Committing", [change(type, "a")], begun), {
      0: { before, forward: { write: { type: "unanswered", sent: NOW } }, target: seen(object) },
    });
    const turned = later(start, 2, () => refused(404)).at.txn.status;
    expect(turned).toMatchObject({ phase: "RollingBack", items: [{ state: { type: fate } }] });
  },
);

describe.each(["Patch", "Update"] as const)("a %s of what another client is deleting", (type) => {
  const before = former("ConfigMap", "a", {
    data: { a: "old" },
    metadata: { ...owned("setup"), finalizers: ["x/y"] },
  });
  const ours = { managedFields: [{ manager: fieldManager({ name: "x", uid: UID }) }] };
  const dying = (metadata: object): KubeObject => ({
    ...before,
    metadata: {
      ...before.metadata,
      resourceVersion: "2",
      deletionTimestamp: "2026-01-01T12:00:00Z",
      ...metadata,
    },
  });

  it.each([
    [
      "it was refused, as the target had moved",
      { type: "refused", sent: NOW, code: 409, message: "moved" },
      dying({}),
      "rejected",
    ],
    ["it was not answered, and not made", { type: "unanswered", sent: NOW }, dying({}), "rejected"],
    ["it was not answered, and made", { type: "unanswered", sent: NOW }, dying(ours), "committed"],
  ] as const)("turns back, and says what holds it: %s", (_, attempt, object, fate) => {
    const start = observing(underway("Committing", [change(type, "a")], begun), {
      0: { before, forward: { write: attempt }, target: seen(object) },
    });
    const { status } = later(start, 1, () => refused(404)).at.txn;
    expect(status).toMatchObject({ phase: "RollingBack", items: [{ state: { type: fate } }] });
    expect(JSON.stringify(status.conditions)).toContain(
      "ConfigMap shop/a is being deleted by another client, delayed by its finalizers: x/y",
    );
  });
});

it("gives up what is refused for good, also when nobody knows of an earlier sending and an earlier change brings what it may need", () => {
  const changes = [change("Create", "deployer", "ServiceAccount"), change("Create", "next")];
  const start = observing(underway("Committing", changes, { direction: "forward", cursor: 1 }), {
    1: { forward: { write: { type: "unanswered", sent: NOW } } },
  });
  const { at, asked } = later(start, 60_000, (ask, at) =>
    ask.purpose === "checkpoint" ? checkpointed(at, ask) : refused(ask.purpose === "change" ? 422 : 404),
  );
  expect(at.txn.status.phase).toBe("RolledBack");
  expect(asked.filter(({ purpose }) => purpose === "change")).toHaveLength(1);
});

it("tries a Create again whose rights an earlier change has brought, also while it may not even look", () => {
  const role: Change = { type: "Create", target: { apiVersion: "v1", kind: "Role", name: "rights" }, content: {} };
  const start = underway("Committing", [role, change("Create", "a")], { direction: "forward", cursor: 1 });
  const from = (rights: number) =>
    later(start, 40_000, (ask, at) => {
      if (ask.purpose === "checkpoint") return checkpointed(at, ask);
      if (ask.purpose !== "change" && ask.purpose !== "read-target") return refused(404);
      if (at.now < NOW + rights) return refused(403, "may not");
      return ask.purpose === "change" ? E.right(former("ConfigMap", "a")) : refused(404);
    });
  const soon = from(3_000);
  expect(soon.at.txn.status.phase).toBe("Committed");
  expect(soon.asked.filter(({ purpose }) => purpose === "change").length).toBeLessThan(6);
  const never = from(60_000).at.txn.status;
  expect(never.items[1]?.state).toMatchObject({ type: "rejected" });
  expect(JSON.stringify(never.conditions)).toContain("the API server refused to create ConfigMap shop/a: may not");
});
