// Tests the fold of what happens to an ActionSet.
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Effect } from "../../../packages/blueprints/src/core/effect.ts";
import { remember } from "../../../packages/blueprints/src/core/memory.ts";
import { observe } from "../../../packages/blueprints/src/core/observe.ts";
import { indexOf } from "../../../packages/blueprints/src/core/phase-context.ts";
import { create, get } from "../../../packages/blueprints/src/core/requests.ts";
import { type ApiError, pods } from "@janus/types";

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
const refused = (code: number, reason: string) =>
  E.left({ type: "refused" as const, code, reason, message: reason, causes: [] });

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

it.each([
  ["a conflict", 409, undefined, false],
  ["that something else is not found", 404, "other" as const, false],
  ["that there is no such object", 404, "object" as const, true],
  ["a rejection", 403, undefined, true],
])("a read that is answered with %s is an answer for the phase, or tried again", (_, code, notFound, isAnswer) => {
  const told = E.mapLeft((error: ApiError) => ({ ...error, ...(notFound === undefined ? {} : { notFound }) }));
  const answer = told(refused(code, "Some"));
  const { memory, failed } = observe(start, { type: "answered", effect, answer, sent: 1, at: 2 });
  expect([memory.facts.has(FACT), failed !== undefined]).toEqual([isAnswer, !isAnswer]);
});
