// Tests in which order an ActionSet is written where its status is a subresource, and what shows that it has become one.
import { actionSetController, type Effect, isMisplaced, type Memory } from "@janus/blueprints/core";
import type { ApiError, KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { actionSets } from "@janus/blueprints";
import { patchOwn } from "../../../packages/blueprints/src/core/requests.ts";

const SETTINGS = { defaultServiceAccount: "ops", toolsImage: "tools", podReadyTimeout: 1000, seed: "", process: "" };
const NOW = Date.parse("2026-01-01T00:00:00Z");
const RUNNING = "blueprints.janus.io/running";

const actionSet = (more: object): KubeObject => ({
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "ActionSet",
  metadata: { namespace: "shop", name: "run", uid: "u", resourceVersion: "1" },
  ...more,
});

const absent: ApiError = {
  type: "refused",
  code: 404,
  reason: "NotFound",
  message: "not found",
  causes: [],
  notFound: "object",
};

/** Stores a patch as the API server does. */
const patched = (object: KubeObject, request: Effect["request"], isApart: boolean): KubeObject => {
  if (request.verb !== "mergePatch") return object;
  const { metadata = {}, status } = request.body as { readonly metadata?: object; readonly status?: object };
  const fields = Object.entries(status ?? {}).filter(([, value]) => value !== null);
  const stored = isApart ? request.subresource === "status" : true;
  const isOfObject = request.subresource === undefined;
  return {
    ...object,
    ...(isOfObject ? { metadata: { ...object.metadata, ...metadata } } : {}),
    ...(stored && status !== undefined ? { status: Object.fromEntries(fields) } : {}),
  };
};

/** What each write of the ActionSet has, until its journal is made, or it has ended. */
const writesOf = (start: KubeObject, isApart: boolean): readonly string[] => {
  const { decide, observe, remember } = actionSetController(SETTINGS, { isStatusApart: () => isApart });
  let object = start;
  let memory: Memory = remember(object, NOW);
  const writes: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const step = decide(memory, { now: NOW, hasMemory: true, isOver: false });
    if (step.type !== "run") return writes;
    for (const effect of step.effects) {
      const { request, purpose } = effect;
      if (purpose === "create-journal") return [...writes, purpose];
      if (request.verb === "mergePatch") {
        const { metadata, status } = request.body as { readonly metadata: object; readonly status?: object };
        const parts = [
          ...("finalizers" in metadata ? ["finalizers"] : []),
          ...(status === undefined ? [] : [(status as { readonly state: string }).state]),
        ];
        writes.push(`${purpose}${request.subresource === undefined ? "" : `/${request.subresource}`}: ${parts.join()}`);
        object = patched(object, request, isApart);
      }
      const isOwn = request.verb !== "raw" && request.resource.plural === actionSets.plural;
      const answer = purpose === "read-journal" ? E.left(absent) : E.right(isOwn ? object : actionSet({}));
      ({ memory } = observe(memory, { type: "answered", effect, answer, sent: NOW, at: NOW }));
    }
  }
  throw new Error(`it does not come to rest: ${writes.join("; ")}`);
};

const NOTHING_TO_DO = { spec: { actions: [] } };
const taken = { metadata: { ...actionSet({}).metadata, finalizers: ["other", RUNNING] } };

it.each([
  ["an ActionSet is taken up", actionSet(NOTHING_TO_DO), ["take-up: finalizers,pending", "create-journal"]],
  [
    "one is not run whose pending is there",
    actionSet({ ...taken, status: { state: "pending" } }),
    ["end: finalizers,failed"],
  ],
])("in one write, as Kanister defines it: %s", (_, object, writes) => {
  expect(writesOf(object, false)).toEqual(writes);
});

it.each([
  [
    "the finalizer is there before the status says anything",
    actionSet(NOTHING_TO_DO),
    ["take-up: finalizers", "take-up/status: pending", "create-journal"],
  ],
  [
    "the status is still to come after a crash between the two",
    actionSet({ ...NOTHING_TO_DO, ...taken }),
    ["take-up/status: pending", "create-journal"],
  ],
  [
    "the finalizer is there until the status says that it has ended",
    actionSet({ ...taken, status: { state: "pending" } }),
    ["end/status: failed", "release: finalizers"],
  ],
  [
    "the finalizer goes after a crash between the two",
    actionSet({ ...taken, status: { state: "failed" } }),
    ["release: finalizers"],
  ],
  ["there is no finalizer where nothing is run", actionSet({}), ["end/status: failed"]],
])("in two writes, with a status subresource: %s", (_, object, writes) => {
  expect(writesOf(object, true)).toEqual(writes);
});

const { observe, remember } = actionSetController(SETTINGS);
const start = remember(actionSet({}), NOW);
const write = patchOwn(start.actionSet, "record", { status: { state: "running" } });
const toSubresource: Effect = {
  ...write,
  request: { ...(write.request as Extract<Effect["request"], { verb: "mergePatch" }>), subresource: "status" },
};

it("a status that was dropped is no recorded one: it is written again", () => {
  const answer = E.right(actionSet({ status: { state: "pending" } }));
  const { memory, failed } = observe(start, { type: "answered", effect: write, answer, sent: 1, at: 2 });
  expect([memory.recorded, failed?.message]).toEqual([undefined, expect.stringContaining("status subresource")]);
});

it.each([
  ["a status that is stored", write, E.right(actionSet({ status: { state: "running" } })), false],
  ["a status that is dropped", write, E.right(actionSet({})), true],
  ["a status whose path is not served", toSubresource, E.left(absent), true],
  ["an ActionSet that is gone", write, E.left(absent), false],
  ["another version of it", toSubresource, E.left({ ...absent, code: 409, notFound: undefined }), false],
])("is asked again where the status is, or not, after %s", (_, effect, answer, expected) => {
  expect(isMisplaced(effect, answer as E.Either<ApiError, KubeObject>)).toBe(expected);
});
