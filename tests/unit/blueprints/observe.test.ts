// Tests the fold of what happens to an ActionSet.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Effect } from "../../../packages/blueprints/src/core/effect.ts";
import { type KnownJournal, refresh, remember } from "../../../packages/blueprints/src/core/memory.ts";
import { observe } from "../../../packages/blueprints/src/core/observe.ts";
import { indexOf } from "../../../packages/blueprints/src/core/phase-context.ts";
import { create, get, patch, patchOwn, remove } from "../../../packages/blueprints/src/core/requests.ts";
import { pods } from "@janus/types";

const start = remember({
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "ActionSet",
  metadata: { namespace: "shop", name: "run", uid: "u", resourceVersion: "1" },
});
const pod = (resourceVersion: string) =>
  E.right({ apiVersion: "v1", kind: "Pod", metadata: { name: "p", resourceVersion } });
const FACT = "phase/0/0/1/watched";
const effect: Effect = get("read-pod", FACT, { resource: pods, namespace: "shop", name: "p" }, "ops");
const changed = { type: "changed", index: indexOf({ action: 0, phase: 0 }, 0) } as const;

it("a Pod that was read before a watch told of its change is read again", () => {
  const told = observe(start, { ...changed, at: 10 }).memory;
  const late = observe(told, { type: "answered", effect, answer: pod("1"), sent: 9, at: 11 }).memory;
  expect(late.facts.has(FACT)).toBe(false);
  const next = observe(late, { type: "answered", effect, answer: pod("2"), sent: 12, at: 13 }).memory;
  expect(next.facts.get(FACT)).toEqual(pod("2"));
});

it("a change of another phase's object makes nothing outdated", () => {
  const told = observe(start, { ...changed, index: indexOf({ action: 1, phase: 0 }, 0), at: 10 }).memory;
  expect(observe(told, { type: "answered", effect, answer: pod("1"), sent: 9, at: 11 }).memory.facts.has(FACT)).toBe(
    true,
  );
});

const creation: Effect = create("create-pod", FACT, pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } });
const refused = (code: number, reason: string, notFound?: "object" | "other") =>
  E.left({
    type: "refused" as const,
    code,
    reason,
    message: reason,
    causes: [],
    ...(notFound === undefined ? {} : { notFound }),
  });

it.each([
  ["a quota that others change, too", 409, "Conflict", false],
  ["a namespace that is not found", 404, "NotFound", false],
  ["an object of that name", 409, "AlreadyExists", true],
  ["a rejection", 403, "Forbidden", true],
])("a creation that meets %s is an answer for the phase, or tried again", (_, code, reason, isAnswer) => {
  const answer = refused(code, reason);
  const { memory, failed } = observe(start, { type: "answered", effect: creation, answer, sent: 1, at: 2 });
  expect([memory.facts.has(FACT), failed !== undefined]).toEqual([isAnswer, !isAnswer]);
});

const place = { resource: pods, namespace: "shop", name: "p" };
const labelled = (metadata: object) =>
  patch("patch-object", FACT, "mergePatch", place, { metadata: { ...metadata, labels: {} } }, "ops");

it.each([
  ["a read that meets a conflict", effect, refused(409, "Conflict"), true],
  ["a read that finds no other object", effect, refused(404, "NotFound", "other"), true],
  ["a read that does not find its object", effect, refused(404, "NotFound", "object"), false],
  ["a patch that competes with others", labelled({}), refused(409, "Conflict"), true],
  ["a patch of one object that meets another", labelled({ uid: "u" }), refused(409, "Conflict"), false],
  [
    "a deletion of one object that meets another",
    remove("d", FACT, place, "u", "ops"),
    refused(409, "Conflict"),
    false,
  ],
])("%s is tried again for a minute, if nothing is said by that", (_, asked, answer, isDoubted) => {
  const answered = { type: "answered", effect: asked, answer, sent: 1 } as const;
  const first = observe(start, { ...answered, at: 1000 });
  const soon = observe(first.memory, { ...answered, at: 60_999 });
  const later = observe(soon.memory, { ...answered, at: 61_000 });
  expect([first, soon, later].map(({ memory }) => memory.facts.has(FACT))).toEqual([!isDoubted, !isDoubted, true]);
  expect([first, soon, later].map(({ failed }) => failed !== undefined)).toEqual([isDoubted, isDoubted, false]);
});

const edited = (labels: Readonly<Record<string, string>>, actions: readonly string[] = []) => ({
  ...start.object,
  metadata: { ...start.object.metadata, labels },
  spec: { actions: actions.map((name) => ({ name })) },
});

it.each<readonly [what: string, KnownJournal["type"], object: ReturnType<typeof edited>, isKept: boolean]>([
  ["another ServiceAccount", "absent", edited({ "janus.io/service-account": "weak" }), false],
  ["another spec", "absent", edited({}, ["other"]), false],
  ["another label", "absent", edited({ team: "shop" }), true],
  ["another spec, once it has begun", "read", edited({}, ["other"]), true],
])(
  "what was read is known after an edit, but not to one that has not begun as another one: %s",
  (_, type, object, isKept) => {
    const before = { ...remember(edited({})), facts: new Map([["Secret/shop/s", pod("1")]]) };
    const journal = { type } as KnownJournal;
    expect(refresh({ ...before, journal }, object).facts.size).toBe(isKept ? 1 : 0);
  },
);

it("what was read for the start is read anew by one that waits for its turn: a Blueprint may be edited meanwhile", () => {
  const { actionSet } = start;
  const before = { ...start, facts: new Map([["blueprint/recipe", pod("1")]]) };
  const told = (purpose: string) => {
    const own = patchOwn(actionSet, purpose, { status: { state: "pending" } });
    const answer = E.right({ ...start.object, status: { state: "pending" } });
    return observe(before, { type: "answered", effect: own, answer, sent: 1, at: 2 }).memory.facts.size;
  };
  expect([told("queue"), told("record")]).toEqual([0, 1]);
});
