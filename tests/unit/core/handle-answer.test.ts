import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { handleAnswer as handle, DENIED_AT_START } from "../../../packages/controller/src/core/state/handle-answer.ts";
import { type Observations, noObservations } from "../../../packages/controller/src/core/state/observations.ts";
import { configMaps } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import type { Instant } from "@janus/types";
import { NOW } from "./arbitrary-situation.ts";
import { type Answer, former, refused } from "./underway.ts";

const CONTROLLER = "system:serviceaccount:janus-system:janus-controller";
const denied = (verb: string, resource = "configmaps", user = CONTROLLER): Answer =>
  refused(403, `${resource} "a" is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group ""`);

const ask = (as: ApiCall["as"], fields: Partial<ApiCall> = {}): ApiCall => ({
  purpose: "read-store",
  as,
  call: { verb: "get", place: { resource: configMaps, namespace: "shop", name: "a" } },
  folds: [],
  unanswered: [],
  ...fields,
});

/** Tells only whether it was answered. */
const handleAnswer = (known: Observations, effect: ApiCall, answer: Answer, at: Instant, sent: Instant) =>
  handle(
    known,
    { type: "answered", effect, answer, at, sent },
    {
      run: (seen) => ({ ...seen, deniedForAll: new Set(["learned"]) }),
      miss: (seen) => ({ ...seen, deniedForAll: new Set(["lost"]) }),
    },
  );

const hasLearned = ({ deniedForAll }: Observations): boolean => deniedForAll.has("learned");
const known = noObservations(NOW);

describe("a denial of the controller's own permissions", () => {
  it.each<readonly [string, ApiCall["as"], Answer]>([
    ["to read", "controller", denied("get")],
    ["to act as the ServiceAccount", "serviceAccount", denied("impersonate", "serviceaccounts")],
  ])("is not reported before it has lasted, and then it is acted on: %s", (_, as, answer) => {
    const first = handleAnswer(known, ask(as), answer, NOW, NOW);
    expect(first).toMatchObject({ failed: { code: 403 } });
    expect(hasLearned(first.known)).toBe(false);
    const again = handleAnswer(first.known, ask(as), answer, NOW + DENIED_AT_START - 1, NOW);
    expect(again.failed).toBeDefined();
    const last = handleAnswer(again.known, ask(as), answer, NOW + DENIED_AT_START, NOW);
    expect(last.failed).toBeUndefined();
    expect(hasLearned(last.known)).toBe(true);
  });

  it("has to last anew once something was allowed", () => {
    const first = handleAnswer(known, ask("controller"), denied("get"), NOW, NOW);
    const allowed = handleAnswer(first.known, ask("controller"), E.right(former("ConfigMap", "a")), NOW + 1, NOW);
    expect(
      handleAnswer(allowed.known, ask("controller"), denied("get"), NOW + DENIED_AT_START, NOW).failed,
    ).toBeDefined();
  });

  it("is not what admission, a quota, or the ServiceAccount's own lack of permissions says", () => {
    const own = denied("patch", "configmaps", "system:serviceaccount:shop:deploy-sa");
    expect(handleAnswer(known, ask("serviceAccount"), own, NOW, NOW).failed).toBeUndefined();
    for (const text of ['configmaps "a" is forbidden: exceeded quota: few', 'admission webhook "x" denied the request'])
      expect(handleAnswer(known, ask("controller"), refused(403, text), NOW, NOW).failed).toBeUndefined();
  });
});

describe("an object of the controller's own that is said to exist", () => {
  const create = ask("controller", {
    purpose: "journal",
    call: { verb: "create", place: { resource: configMaps, namespace: "shop", name: "a" }, body: {}, manager: "janus" },
  });

  it("is looked for at once; if it is not there, and said to exist again, there is a pause", () => {
    const first = handleAnswer(known, create, refused(409), NOW, NOW);
    expect(first.failed).toBeUndefined();
    expect(hasLearned(first.known)).toBe(true);
    const looked = handleAnswer(first.known, ask("controller"), refused(404), NOW, NOW);
    expect(handleAnswer(looked.known, create, refused(409), NOW, NOW).failed).toBeDefined();
  });

  it("is no reason for a pause once it was seen", () => {
    const first = handleAnswer(known, create, refused(409), NOW, NOW);
    const seen = handleAnswer(first.known, ask("controller"), E.right(former("ConfigMap", "a")), NOW, NOW);
    expect(handleAnswer(seen.known, create, refused(409), NOW, NOW).failed).toBeUndefined();
  });
});

it("a write that is said to find no object, which is then read, is made again at once, and then after a pause", () => {
  const place = { resource: configMaps, namespace: "shop", name: "a" };
  const patch = ask("controller", { purpose: "checkpoint", call: { verb: "mergePatch", place, body: {} } });
  const read = (known: Observations): Observations =>
    handleAnswer(known, ask("controller"), E.right(former("ConfigMap", "a")), NOW, NOW).known;
  const first = handleAnswer(known, patch, refused(404), NOW, NOW);
  expect(first.failed).toBeUndefined();
  expect(handleAnswer(read(first.known), patch, refused(404), NOW, NOW).failed).toBeDefined();
  const written = handleAnswer(read(first.known), patch, E.right(former("ConfigMap", "a")), NOW, NOW);
  expect(handleAnswer(written.known, patch, refused(404), NOW, NOW).failed).toBeUndefined();
});

it("an object that is to be deleted, and is absent, is done, however often that is said", () => {
  const place = { resource: configMaps, namespace: "shop", name: "a" };
  const remove = ask("controller", {
    purpose: "journal",
    call: { verb: "delete", place, preconditions: {} },
    untilDone: true,
  });
  const first = handleAnswer(known, remove, refused(404), NOW, NOW);
  const again = handleAnswer(first.known, remove, refused(404), NOW, NOW);
  expect([first.failed, again.failed]).toEqual([undefined, undefined]);
  expect(hasLearned(again.known)).toBe(true);
});

it("snapshots of which each name is said to be taken are written after a pause each but the first: else as many as there are names", () => {
  const storing = (name: string): ApiCall =>
    ask("controller", {
      purpose: "store",
      call: { verb: "create", place: { resource: configMaps, namespace: "shop", name }, body: {}, manager: "janus" },
    });
  const first = handleAnswer(known, storing("a"), refused(409), NOW, NOW);
  expect(first.failed).toBeUndefined();
  const seen = handleAnswer(first.known, ask("controller"), E.right(former("ConfigMap", "a")), NOW, NOW);
  const second = handleAnswer(seen.known, storing("b"), refused(409), NOW, NOW);
  expect(second.failed).toBeDefined();
  const written = handleAnswer(second.known, storing("c"), E.right(former("ConfigMap", "c")), NOW, NOW);
  expect(handleAnswer(written.known, storing("d"), refused(409), NOW, NOW).failed).toBeUndefined();
});

it("a read that is answered with a conflict is made again after a pause: at once it was made a thousand times in ten seconds", () => {
  const answered = handleAnswer(known, ask("controller"), refused(409), NOW, NOW);
  expect(answered.failed).toBeDefined();
  expect(hasLearned(answered.known)).toBe(false);
});

describe("what has to be done", () => {
  it.each<readonly [string, Answer, { always: boolean; unlessRefused: boolean; unlessDenied: boolean }]>([
    ["done", E.right(former("ConfigMap", "a")), { always: true, unlessRefused: true, unlessDenied: true }],
    ["nothing to do it to", refused(404), { always: true, unlessRefused: true, unlessDenied: true }],
    ["a refusal by admission", refused(422), { always: false, unlessRefused: true, unlessDenied: false }],
    ["an answer of something in between", refused(410), { always: false, unlessRefused: true, unlessDenied: false }],
    ["a lasting denial", denied("get"), { always: false, unlessRefused: true, unlessDenied: true }],
    ["a conflict", refused(409), { always: false, unlessRefused: false, unlessDenied: false }],
    ["a fault", refused(503), { always: false, unlessRefused: false, unlessDenied: false }],
  ])("is tried again, or passed for later: %s", (_, answer, { always, unlessRefused, unlessDenied }) => {
    const outcome = (untilDone: NonNullable<ApiCall["untilDone"]>) => {
      const effect = ask("controller", { untilDone });
      const first = handleAnswer(known, effect, answer, NOW, NOW);
      return hasLearned(handleAnswer(first.known, effect, answer, NOW + DENIED_AT_START, NOW).known);
    };
    expect(outcome(true)).toBe(always);
    expect(outcome("unless-refused")).toBe(unlessRefused);
    expect(outcome("unless-denied")).toBe(unlessDenied);
  });
});

it("a 404 that is not the API server's own takes nothing for gone", () => {
  const page = E.left({ type: "refused", code: 404, reason: "", message: "<html>", causes: [] } as const);
  expect(handleAnswer(known, ask("controller"), page, NOW, NOW).failed).toBeDefined();
});
