// Tests when it is asked whether the status of ActionSets is a subresource, and what is made of the answer.
import type { Api } from "@janus/kube";
import type { ApiError, KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { statusPlace } from "../../../packages/blueprints/src/shell/status-place.ts";

const served = (...names: readonly string[]): E.Either<ApiError, KubeObject> =>
  E.right({
    apiVersion: "v1",
    kind: "APIResourceList",
    metadata: {},
    groupVersion: "cr.kanister.io/v1alpha1",
    resources: names.map((name) => ({ name, kind: "ActionSet", namespaced: true, verbs: ["get", "create"] })),
  });
const WHOLE = served("actionsets");
const APART = served("actionsets", "actionsets/status");

const refused = (code: number): E.Either<ApiError, KubeObject> =>
  E.left({ type: "refused", code, reason: "", message: "refused", causes: [] });

/** An API server that gives these answers, one after the other. */
const placeOf = (...answers: readonly E.Either<ApiError, KubeObject>[]) => {
  let asked = 0;
  const send: Api["send"] = () => {
    asked += 1;
    return Promise.resolve(answers[asked - 1] ?? refused(500));
  };
  return { ...statusPlace({ send } as Api), asked: () => asked };
};

it.each([
  ["is one", APART, true],
  ["is none", WHOLE, false],
  ["is none, as Kanister has it, for who may not ask", refused(403), false],
])("the status %s", async (_, answer, isApart) => {
  const place = placeOf(answer);
  expect(E.isRight(await place.find())).toBe(true);
  expect(place.isApart()).toBe(isApart);
});

it("is looked for once, by however many, and again after an answer has shown another", async () => {
  const place = placeOf(WHOLE, APART);
  await Promise.all([place.find(), place.find()]);
  await place.find();
  expect([place.asked(), place.isApart()]).toEqual([1, false]);
  place.forget();
  await place.find();
  expect([place.asked(), place.isApart()]).toEqual([2, true]);
});

it("is looked for again as long as there is no answer: nothing is decided before", async () => {
  const place = placeOf(refused(503), APART);
  expect(E.isLeft(await place.find())).toBe(true);
  await place.find();
  expect([place.asked(), place.isApart()]).toEqual([2, true]);
});
