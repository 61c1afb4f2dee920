import { lockLease, RETRY_ROLLBACK } from "@janus/api";
import type { Hook, Request } from "@janus/kube";
import { classify } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

type Sort = "read" | "dry run" | "write";

/** Events are told off the critical path and not counted; asking for rights is a read, though it is a POST. */
const sortOf = (request: Request): Sort | undefined => {
  if (request.purpose === "event") return undefined;
  if (["get", "list", "raw"].includes(request.verb) || request.purpose === "review") return "read";
  return "dryRun" in request && request.dryRun ? "dry run" : "write";
};

/** A request that a busy API server did not answer in time is sent again, which is no cost of the protocol. */
const isAnswered = (answer: Awaited<ReturnType<Parameters<Hook>[1]>>): boolean =>
  E.isRight(answer) || classify(answer.left) === "permanent";

/** Counts requests, and how many of the writes had no other write beside them. */
const counting = () => {
  const counts = { read: 0, "dry run": 0, write: 0 };
  const serial = new Set<number>();
  const underway = new Set<number>();
  let last = 0;
  const hook: Hook = async (request, next) => {
    const sort = sortOf(request);
    if (sort === undefined) return next(request);
    const counted = next(request).then((answer) => {
      counts[sort] += isAnswered(answer) ? 1 : 0;
      return answer;
    });
    if (sort !== "write") return counted;
    const id = (last += 1);
    if (underway.size === 0) serial.add(id);
    else for (const other of underway) serial.delete(other);
    underway.add(id);
    return counted.finally(() => underway.delete(id));
  };
  return { counts, serial, hook };
};

const commit = async (changes: number) => {
  const { create, janus, run } = await workspace();
  const names = Array.from({ length: changes }, (_, n) => `c${n}`);
  await create(...names.map((name) => configMap(name, { a: "1" })));
  const { hook, counts, serial } = counting();
  const running = await janus(hook);
  const began = performance.now();
  const { status } = await run(names.map((name) => patching(configMap(name, { a: "2" }))));
  await running.stop();
  expect(status.phase).toBe("Committed");
  // Progress is recorded and shown once a second; what the watch tells of that may be a reason to look.
  return { ...counts, serial: serial.size, projections: Math.floor((performance.now() - began) / 1000) };
};

it.each([1, 10, 100])(
  "takes 3 writes, a read and a dry run for each of %d patches, one for each window of 16 but the last, and a few for all",
  async (changes) => {
    const cost = await commit(changes);
    expect(cost.write).toBeLessThanOrEqual(3 * changes + Math.ceil(changes / 16) + 9 + 2 * cost.projections);
    // One look more where the watch tells of a write of the Transaction, of which there are 5, before its answer has come.
    expect(cost.read).toBeLessThanOrEqual(changes + 6 + 5 + cost.projections);
    expect(cost["dry run"]).toBe(changes);
  },
);

it("makes 10 changes with at most 17 writes one after the other, all others go out side by side", async () => {
  const cost = await commit(10);
  expect(cost.serial - 2 * cost.projections).toBeLessThanOrEqual(17);
});

it("looks at a Transaction that somebody writes all the time no more than once a second", async () => {
  const { namespace, create, janus, patch, submit, txn } = await workspace();
  const wanted = lockLease({ group: "", kind: "ConfigMap", namespace, name: "wanted" });
  await create(configMap("wanted"), lease(wanted, { holderIdentity: "somebody", leaseDurationSeconds: 3600 }));
  let looks = 0;
  await janus((request, next) => {
    if (request.purpose === "read-transaction") looks += 1;
    return next(request);
  });
  await submit([patching(configMap("wanted", { a: "2" }))]);
  await expect.poll(async () => (await txn()).status?.conditions?.[0]?.message).toMatch(/held by somebody/);

  const annotate = (annotations: object) => patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  const [began, before] = [performance.now(), looks];
  for (let n = 0; n < 150; n += 1) {
    await annotate({ [RETRY_ROLLBACK]: "now", edit: `${n}` });
    await annotate({ [RETRY_ROLLBACK]: null });
  }
  // Of edits and of what people ask for once each; and it looks by itself whether the lock is free.
  const seconds = (performance.now() - began) / 1000;
  expect(looks - before).toBeLessThanOrEqual(5 * seconds + 10);
});
