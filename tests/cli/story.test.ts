import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { janus } from "./command-line.ts";

const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");
const gated = () => ({ ...creating(deployment("web", "web:v1")), waitFor: ["ready"] });

it("lists Transactions, the newest last, in columns or as kubectl formats them", async () => {
  const { namespace, create, run, janus: controller } = await workspace();
  await create(configMap("a"));
  await controller();
  await run([patching(configMap("a", { b: "1" }))], { name: "first" });
  await run([creating(configMap("a"))], { name: "second" });
  const { stdout } = await janus("get", "-n", namespace);
  expect(stdout.split("\n").map((line) => line.split(/ {3,}/u).slice(0, 4))).toEqual([
    ["NAME", "PHASE", "PROGRESS", "LIFECYCLE"],
    ["first", "Committed", "1/1", "Published"],
    ["second", "Failed", "0/1", "Published"],
    [""],
  ]);
  expect((await janus("-n", namespace, "get", "-o", "name", "--phase", "Failed")).stdout).toBe(
    "transaction.backup.janus.io/second\n",
  );
  expect(JSON.parse((await janus("get", "first", "-n", namespace, "-o", "json")).stdout)).toMatchObject({
    kind: "Transaction",
    metadata: { name: "first" },
  });
  expect((await janus("get", "-A")).stdout).toMatch(/^NAMESPACE +NAME/u);
  const nowhere = await janus("get", "third", "-n", namespace);
  expect(nowhere).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Transaction ${namespace}/third does not exist`),
  });
});

it("tells the whole story: states, gates, locks, messages and events, in 80 columns", async () => {
  const { namespace, submit, txn, janus: controller } = await workspace();
  await controller();
  await submit([creating(configMap("a")), gated()], { timeout: "5m" });
  await expect.poll(async () => JSON.stringify((await txn()).status)).toContain("waitingFor");
  const { code, stdout } = await janus("describe", "txn", "-n", namespace);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {4}1 {2}applied +Create ConfigMap \S+\/a$/mu);
  expect(stdout).toMatch(/^ {4}2 {2}waiting +Create Deployment \S+\/web$/mu);
  expect(stdout).toMatch(/waits for: +ready: Deployment/u);
  expect(flat(stdout)).toContain(
    `lock: Lease ${namespace}/janus-lock-${namespace}-configmap-a, held by this Transaction`,
  );
  expect(stdout).toContain("ItemCommitted: 2/2 Create ConfigMap");
  expect(stdout.split("\n").filter((line) => line.length > 80 && !line.includes(namespace))).toEqual([]);
  const explained = await janus("explain", "txn", "-n", namespace);
  expect(explained.stdout).toMatch(/^It waits for a gate\.\nWhy:/u);
  expect(flat(explained.stdout)).toContain(`Next: wait, or roll it back: kubectl janus rollback txn -n ${namespace}`);
  expect(await janus("cancel", "txn", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`kubectl janus rollback txn -n ${namespace}`),
  });
  const back = await janus("rollback", "txn", "-n", namespace);
  expect(back.code).toBe(0);
  expect(back.stdout).toContain("RolledBack 0/2");
  expect(await janus("rollback", "txn", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has finished: it is RolledBack .* There is nothing to roll back/u),
  });
});

it("names who holds the lock that a Transaction waits for, and cancels one that has changed nothing", async () => {
  const { namespace, create, submit, txn, janus: controller } = await workspace();
  await create(configMap("shared"));
  await controller();
  await submit([patching(configMap("shared", { a: "1" })), gated()], { name: "holder", timeout: "5m" });
  await expect.poll(async () => JSON.stringify((await txn("holder")).status)).toContain("waitingFor");
  await submit([patching(configMap("shared", { a: "2" }))], { name: "waiter" });
  const explained = async () => flat((await janus("explain", "waiter", "-n", namespace)).stdout);
  await expect.poll(explained).toContain(`It waits for a lock that Transaction ${namespace}/holder holds.`);
  expect(await explained()).toContain(`Next: kubectl janus explain holder -n ${namespace}`);
  const cancelled = await janus("cancel", "waiter", "-n", namespace);
  expect(cancelled.code).toBe(0);
  expect(cancelled.stdout).toContain("no changes were applied");
  expect((await janus("rollback", "holder", "-n", namespace)).code).toBe(0);
});

it("says of a Transaction that the controller cannot read that nothing is done for it, and requests nothing", async () => {
  const { namespace, create, patch, submit, txn, janus: controller } = await workspace();
  await create(configMap("mine", { a: "1" }));
  await controller();
  await submit([patching(configMap("mine", { a: "2" })), gated()], { timeout: "5m" });
  await expect.poll(async () => JSON.stringify((await txn()).status)).toContain("waitingFor");
  await patch({ ...transaction("txn"), status: { items: [] } }, "status");
  const explained = async () => flat((await janus("explain", "txn", "-n", namespace)).stdout);
  await expect.poll(explained).toContain("The controller cannot read it, and does nothing for it.");
  expect(await explained()).toContain("status.items: has 0 entries for 2 changes; repair it (kubectl edit txn txn");
  const { code, stderr } = await janus("rollback", "txn", "-n", namespace);
  expect([code, flat(stderr)]).toEqual([1, expect.stringContaining("serves no request")]);
  expect((await txn()).metadata.annotations ?? {}).toEqual({});
});

it("says of an incomplete rollback what is left, and tries the rest again", async () => {
  const { namespace, create, patch, read, submit, over, txn, janus: controller } = await workspace();
  await create(configMap("mine", { a: "1" }));
  await controller();
  await submit([patching(configMap("mine", { a: "2" })), gated()], { timeout: "5m" });
  await expect.poll(async () => JSON.stringify((await txn()).status)).toContain("waitingFor");
  await patch(configMap("mine", { a: "theirs" }));
  const back = await janus("rollback", "txn", "-n", namespace);
  expect(back.code).toBe(3);
  const explained = flat((await janus("explain", "txn", "-n", namespace)).stdout);
  expect(explained).toContain("It failed, and not everything could be rolled back.");
  expect(explained).toContain(`Where: change 1, Patch ConfigMap ${namespace}/mine State:`);
  expect(explained).toContain(`kubectl janus retry txn -n ${namespace}`);
  await over();
  const retried = await janus("retry", "txn", "-n", namespace);
  expect([0, 3]).toContain(retried.code);
  expect((await read(transaction("txn"))).metadata.annotations ?? {}).not.toHaveProperty(
    "backup.janus.io/retry-rollback",
  );
});
