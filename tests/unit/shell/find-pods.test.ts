import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Api, ApiError, Discovery } from "@janus/kube";
import type { FindPods } from "../../../packages/controller/src/core/state/effect.ts";
import { lookUp } from "../../../packages/controller/src/shell/reconcile/api-request.ts";
import { change } from "../core/underway.ts";
import { transaction } from "../core/transaction.ts";

const failing = (fault: ApiError): Api => ({
  send: () => Promise.resolve(E.left(fault)),
  watch: async function* () {
    yield* [];
  },
});

it.each<ApiError>([
  { type: "unanswered", cause: "too-large", message: "the answer is larger than 16777216 bytes" },
  { type: "refused", code: 504, reason: "Timeout", message: "no", causes: [] },
  { type: "refused", code: 403, reason: "Forbidden", message: "no", causes: [] },
])("holds up no gate where the Pods that would explain it cannot be listed: %o", async (fault) => {
  const effect: FindPods = {
    purpose: "find-pods",
    item: 0,
    namespace: "shop",
    labelSelector: "app=web",
    explains: { object: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } }, said: "not ready" },
  };
  const discovery: Discovery = { resource: () => Promise.resolve(E.left(fault)), servedIn: () => Promise.resolve([]) };
  const found = await lookUp(failing(fault), discovery, transaction([change("Patch", "a")]), effect);
  expect(found).toEqual(E.right({ effect, found: [] }));
});
