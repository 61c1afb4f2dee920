import type { ApiError } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

const denied: ApiError = {
  type: "refused",
  code: 403,
  reason: "Forbidden",
  message: 'admission webhook "leases.example.com" denied the request: not now',
  causes: [],
};

it("rolls back although a renewal that was sent before its deletion is refused after that", async () => {
  const place = await workspace();
  await place.create(configMap("a", { v: "0" }), configMap("b", { v: "0" }));
  const [sent, refused, heard] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  let isArmed = false;
  let isHeld = false;
  let isDeleted = false;
  await place.janus(async (request, next) => {
    const { purpose } = request;
    if (purpose === "renew-lock" && isArmed && !isHeld) {
      isHeld = true;
      sent.resolve();
      await refused.promise;
      setTimeout(heard.resolve, 20);
      return E.left(denied);
    }
    const answer = await next(request);
    // It has been read again, nothing is known of its locks any more, and its journal is read.
    if (isDeleted && purpose === "read-journal") {
      isDeleted = false;
      refused.resolve();
      await heard.promise;
    }
    return answer;
  });
  await place.submit(
    [
      { ...patching(configMap("a", { v: "1" })), waitFor: ["jsonpath={.data.ready}=yes"] },
      patching(configMap("b", { v: "1" })),
    ],
    { lockTimeout: "6s", deletionPolicy: "Rollback", timeout: "60s" },
  );
  await expect.poll(async () => (await place.read(configMap("a")))["data"]).toMatchObject({ v: "1" });
  isArmed = true;
  await sent.promise;
  isDeleted = true;
  await place.remove(transaction("txn"));
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  expect((await place.read(configMap("a")))["data"]).toEqual({ v: "0" });
});
