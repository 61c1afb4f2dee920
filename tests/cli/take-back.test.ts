import { expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janus, janusWith } from "./command-line.ts";

const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");
const reversible = ({ conditions }: { readonly conditions: readonly { readonly type: string }[] }) =>
  conditions.find(({ type }) => type === "Reversible");

it("takes back what was committed, within its rollbackWindow", async () => {
  const { namespace, create, read, txn, janus: controller } = await workspace();
  await create(configMap("app", { version: "1.0" }));
  await controller();
  const flags = ["-n", namespace, "--service-account", "deployer", "--name", "txn", "--rollback-window", "10m"];
  const manifest = JSON.stringify(configMap("app", { version: "2.0" }));
  expect((await janusWith(manifest, "apply", "-f", "-", ...flags)).code).toBe(0);
  expect((await read(configMap("app")))["data"]).toEqual({ version: "2.0" });
  const explained = flat((await janus("explain", "txn", "-n", namespace)).stdout);
  expect(explained).toContain(`Next: nothing to do; to roll it back: kubectl janus rollback txn -n ${namespace}`);
  expect((await janus("describe", "txn", "-n", namespace)).stdout).toMatch(/^ {2}Reversible +True +WithinWindow$/mu);
  const wide = await janus("get", "-o", "wide", "-n", namespace);
  expect(wide.stdout).toMatch(/ REVERSIBLE-UNTIL +MESSAGE\ntxn +Committed .* 20\d\d-\S+Z +the change is applied/u);
  const before = await janus("snapshot", "diff", "txn", "-n", namespace);
  expect(before.stdout).toContain('-  version: "1.0"\n+  version: "2.0"');

  const { stdout: former } = await janus("snapshot", "show", "txn", "-n", namespace);
  expect(former).toContain('version: "1.0"');
  expect(former).not.toMatch(/^ {2}(?:uid|resourceVersion):/mu);

  expect(await janus("rollback", "txn", "-n", namespace, "--no-wait")).toEqual({
    code: 0,
    stderr: "",
    stdout: `The rollback of Transaction ${namespace}/txn is requested: kubectl janus watch txn -n ${namespace}\n`,
  });
  await expect.poll(async () => (await txn()).status?.phase).toBe("RolledBack");
  expect((await janus("watch", "txn", "-n", namespace)).stdout).toContain("RolledBack 0/1");
  expect((await read(configMap("app")))["data"]).toEqual({ version: "1.0" });
  expect(flat((await janus("explain", "txn", "-n", namespace)).stdout)).toMatch(
    /^It has finished: it was rolled back on request\. Why: .*requested by admin.* State: every target is as it was before Next: nothing to do $/u,
  );
  expect((await txn()).metadata.annotations).toMatchObject({ "backup.janus.io/rollback-requested-by": "admin" });
  expect(await janus("rollback", "txn", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is nothing to roll back"),
  });
});

it.each([
  ["had no window", {}, "It had no spec.rollbackWindow, so its snapshots are gone: apply the former manifests"],
  [
    "has a window that has passed",
    { rollbackWindow: "1s" },
    "It cannot be rolled back: it could only be rolled back until 20",
  ],
])("says what to do instead if it %s", async (_, window, message) => {
  const { namespace, create, run, txn, janus: controller } = await workspace();
  await create(configMap("app", { version: "1.0" }));
  await controller();
  await run([patching(configMap("app", { version: "2.0" }))], window);
  await expect.poll(async () => reversible((await txn()).status)).not.toMatchObject({ status: "True" });
  const { code, stderr } = await janus("rollback", "txn", "-n", namespace);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
  const explained = flat((await janus("explain", "txn", "-n", namespace)).stdout);
  expect(explained).toMatch(/Next: nothing to do $/u);
});
