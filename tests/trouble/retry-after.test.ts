// Requests of people take effect while a server asks to be left alone.
import { type ApiError, type Hook, type KubeObject, replyOf, type Request } from "@janus/kube";
import type * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const HEADERS = [
  ["a day", "86400"],
  ["until the end of time", "Fri, 31 Dec 9999 23:59:59 GMT"],
  ["less than nothing", "-1"],
  ["a number that no number can hold", "9".repeat(400)],
] as const;

/** As a server says it that is overloaded, or out of its mind. */
const answerWith429 = (retryAfter: string): E.Either<ApiError, KubeObject> =>
  replyOf({ status: 429, retryAfter, body: "too many requests" }, Date.now());

const overloaded =
  (is: (request: Request) => boolean, header: string): Hook =>
  (request, next) =>
    is(request) ? Promise.resolve(answerWith429(header)) : next(request);

const annotate = ({ patch }: Workspace, name: string) =>
  patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [name]: "now" } } });

/** A Transaction whose second change meets this answer, and waits. */
const waiting = async (header: string, spec: object = {}): Promise<Workspace> => {
  const place = await workspace();
  await place.create(configMap("a", { v: "1" }));
  let met = 0;
  const is = (request: Request): boolean => isChangeOf("b")(request) && (met += 1) > 0;
  await place.janus(overloaded(is, header));
  await place.submit([patching(configMap("a", { v: "2" })), creating(configMap("b"))], { ...spec });
  await expect.poll(() => met).toBeGreaterThan(0);
  return place;
};

describe.each(HEADERS)("while a server asks to be left alone: %s", (_, header) => {
  it("a request to roll back takes effect", async () => {
    const place = await waiting(header);
    await annotate(place, "backup.janus.io/request-rollback");
    await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
    expect(await place.read(configMap("a"))).toMatchObject({ data: { v: "1" } });
  });

  it("a deletion takes effect", async () => {
    const place = await waiting(header, { deletionPolicy: "Rollback" });
    await place.remove(transaction("txn"));
    await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
    expect(await place.read(configMap("a"))).toMatchObject({ data: { v: "1" } });
  });

  it("spec.timeout is kept", async () => {
    const place = await waiting(header, { timeout: "3s" });
    await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
  });
});

it("a request to retry the rollback takes effect", async () => {
  const place = await workspace({ recoveryDelay: 3_600_000 });
  await place.create(configMap("a", { v: "1" }));
  let isDenied = true;
  const denied: Hook = async (request, next) =>
    isChangeOf("b")(request) || (isDenied && request.purpose === "restore")
      ? replyOf({ status: 403, retryAfter: undefined, body: "no" }, Date.now())
      : next(request);
  let met = 0;
  const isLook = ({ purpose }: Request): boolean => !isDenied && purpose === "read-transaction" && (met += 1) === 1;
  await place.janus(denied, overloaded(isLook, "86400"));
  const { status } = await place.run([patching(configMap("a", { v: "2" })), creating(configMap("b"))]);
  expect(status.phase).toBe("Failed");
  isDenied = false;
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", labels: { look: "here" } } });
  await expect.poll(() => met).toBe(1);
  await annotate(place, "backup.janus.io/retry-rollback");
  await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
});

it("locks are renewed all the same, well before they would be lost", async () => {
  const place = await workspace();
  const { hook: hold, reached, open } = gate(isChangeOf("a"));
  const { hook: keep, requests } = recording();
  let refused = 0;
  const once = ({ purpose }: Request): boolean => purpose === "renew-lock" && (refused += 1) === 1;
  await place.janus(overloaded(once, "86400"), hold, keep);
  await place.submit([creating(configMap("a"))], { lockTimeout: "1s" });
  await reached;
  await expect.poll(() => refused).toBeGreaterThan(0);
  await expect.poll(() => requests.some(({ purpose }) => purpose === "renew-lock")).toBe(true);
  open();
  expect((await place.over()).status.phase).toBe("Committed");
});
