import type { ApiError, Hook } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { creating } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

const absent: ApiError = {
  type: "refused",
  code: 404,
  reason: "NotFound",
  message: 'transactions.backup.janus.io "txn" not found',
  causes: [],
  notFound: "object",
};

it("looks again for a Transaction that is said to be gone while the watch has it", async () => {
  const place = await workspace();
  let told = 0;
  const once: Hook = (request, next) => {
    if (request.purpose !== "read-transaction" || told > 0) return next(request);
    told += 1;
    return Promise.resolve(E.left(absent));
  };
  await place.janus(once);
  expect((await place.run([creating(configMap("a"))])).status.phase).toBe("Committed");
  expect(told).toBe(1);
});
