// Unfinished Transactions do not wait at the start until all finished ones are listed.
import { REQUEST_ROLLBACK } from "@janus/api";
import type { Hook, Request } from "@janus/kube";
import { expect, it } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

const isList = ({ verb, purpose }: Request): boolean => verb === "list" && purpose === "reflect";
const isOfAll = (request: Request): boolean => isList(request) && !("fieldSelector" in request);

it("executes what is not finished while those that are are still being listed", async () => {
  const place = await workspace();
  const before = await place.janus();
  await place.run([creating(configMap("a"))], { name: "finished" });
  await before.stop();
  await place.submit([creating(configMap("b"))]);
  const all = gate(isOfAll);
  const { metrics, log } = await place.janus(all.hook);
  await all.reached;
  const { status } = await place.over();
  expect(status?.phase).toBe("Committed");
  // Counts are complete, or are not shown.
  expect(await metrics()).not.toContain("janus_transactions_active{");
  all.open();
  await expect.poll(metrics).toContain("janus_transactions_active{");
  expect(log.filter((line) => /"level":"(warn|error)"/u.test(line))).toEqual([]);
});

const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

it.each(["a rollback", "its deletion"] as const)(
  "makes no deletion that cannot be undone after a user has asked for %s, while the others are still being listed",
  async (asked) => {
    const place = await workspace();
    await place.create(configMap("a", { value: "old" }), claim);
    const changes = [patching(configMap("a", { value: "new" })), deleting(claim)];
    await place.submit(changes, { deletionPolicy: "Rollback" });
    const [all, change] = [gate(isOfAll), gate(isChangeOf("a"))];
    let listed = 0;
    const counting: Hook = async (request, next) => {
      const answer = await next(request);
      if (isList(request) && !isOfAll(request)) listed += 1;
      return answer;
    };
    await place.janus(all.hook, change.hook, counting);
    await change.reached;
    const requesting = { metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "" } } };
    if (asked === "a rollback") await place.patch({ ...transaction("txn"), ...requesting });
    else await place.remove(transaction("txn"));
    // It is listed again beside the others: the second time, all of that came after the request.
    const before = listed;
    await expect.poll(() => listed).toBeGreaterThan(before + 1);
    change.open();
    const isOver = async () =>
      asked === "its deletion"
        ? !(await place.exists(transaction("txn")))
        : (await place.txn()).status.phase === "RolledBack";
    await expect.poll(isOver).toBe(true);
    expect((await place.read(configMap("a")))["data"]).toEqual({ value: "old" });
    all.open();
    expect((await place.read(claim)).metadata.deletionTimestamp).toBeUndefined();
  },
);
