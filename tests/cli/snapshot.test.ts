import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { configMap, deployment, secret } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { janus } from "./command-line.ts";

const failing = () => ({ ...creating(deployment("web", "web:v1")), waitFor: ["ready"] });

it("shows what was there before, compares it with what is there now, and brings it back as a new Transaction", async () => {
  const { namespace, create, read, exists, patch, remove, run, janus: controller } = await workspace();
  await create(configMap("patched", { a: "1" }), configMap("deleted", { b: "1" }), secret("key", { token: "hunter2" }));
  await controller();
  const changes = [
    patching(configMap("patched", { a: "2" })),
    patching(secret("key", { token: "x" })),
    creating(configMap("made")),
  ];
  const { status } = await run([...changes, deleting(configMap("deleted")), failing()], { timeout: "8s" });
  expect(status.phase).toBe("RolledBack");
  const on = ["txn", "-n", namespace];
  const shown = (await janus("snapshot", "show", ...on)).stdout;
  expect(shown).toContain('data:\n  a: "1"');
  expect(shown).toContain(`# ConfigMap ${namespace}/made did not exist`);
  expect(shown).not.toContain(Buffer.from("hunter2").toString("base64"));
  expect((await janus("snapshot", "show", "--show-secrets", ...on)).stdout).toContain(
    Buffer.from("hunter2").toString("base64"),
  );
  expect((await janus("snapshot", "show", ...on, "configmap/patched")).stdout).not.toContain("deleted");
  expect((await janus("snapshot", "diff", ...on, "configmap/patched")).code).toBe(0);

  await patch(configMap("patched", { a: "3", c: "3" }));
  await remove(configMap("deleted"));
  await create(configMap("made"));
  const diff = await janus("snapshot", "diff", ...on);
  expect(diff.code).toBe(1);
  expect(diff.stdout).toContain('-  a: "1"\n+  a: "3"\n+  c: "3"');
  const { stdout: short } = await janus("snapshot", "show", "txn", "cm/patched", "-n", namespace);
  expect(short).toContain('a: "1"');
  expect(short).not.toContain("deleted");
  const restored = await janus("snapshot", "restore", ...on);
  expect(restored).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("Committed 2/2"),
    stderr: expect.stringMatching(
      /^Not restored: ConfigMap \S*made is not the object that the Transaction created\.$/mu,
    ),
  });
  expect((await read(configMap("patched")))["data"]).toEqual({ a: "1" });
  expect((await read(configMap("deleted")))["data"]).toEqual({ b: "1" });
  expect(await exists(configMap("made"))).toBe(true);
  await remove(configMap("made"));
  expect(await janus("snapshot", "restore", ...on)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("nothing to restore"),
  });
});

it("restores nothing where a snapshot is gone, and deletes nothing but what the Transaction has created", async () => {
  const { namespace, create, exists, remove, run, janus: controller } = await workspace();
  await create(configMap("a"));
  await controller();
  const created = [creating(configMap("made")), creating(configMap("made-anew"))];
  await run([patching(configMap("a", { b: "1" })), ...created]);
  const on = ["txn", "-n", namespace];
  expect(await janus("snapshot", "restore", ...on)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nothing was restored.*ConfigMap \S*a: the snapshots were deleted/su),
  });
  expect(await exists(configMap("made"))).toBe(true);
  await remove(configMap("made-anew"));
  await create(configMap("made-anew"));
  expect(await janus("snapshot", "restore", ...on, "cm/made-anew")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Not restored: ConfigMap \S*made-anew is not the object that the Transaction created/u,
    ),
  });
  expect((await janus("snapshot", "restore", ...on, "cm/made")).code).toBe(0);
  expect(await exists(configMap("made"))).toBe(false);
  expect(await exists(configMap("made-anew"))).toBe(true);
});

it("leaves what was created with contents that nobody could give back", async () => {
  const { namespace, exists, run, janus: controller } = await workspace();
  await controller();
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec };
  await run([creating(claim)]);
  expect(await janus("snapshot", "restore", "txn", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("its deletion cannot be undone"),
  });
  expect(await exists(claim)).toBe(true);
});

it("says that the snapshots of a Committed Transaction are gone, and that there is no such target", async () => {
  const { namespace, create, run, janus: controller } = await workspace();
  await create(configMap("a"));
  await controller();
  await run([patching(configMap("a", { b: "1" }))]);
  expect(await janus("snapshot", "show", "txn", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the snapshots were deleted when the Transaction was Committed"),
  });
  expect(await janus("snapshot", "show", "txn", "secret/x", "-n", namespace)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has no target secret\/x.*It has:\n {2}1 {2}ConfigMap \S*a$/msu),
  });
});

it("shows the snapshots of a Transaction that was deleted while it was active", async () => {
  const { namespace, create, submit, remove, exists, txn, janus: controller } = await workspace();
  await create(configMap("a", { was: "1" }), secret("key", { token: "hunter2" }));
  await controller();
  await submit([patching(configMap("a", { was: "2" })), patching(secret("key", { token: "x" })), failing()], {
    timeout: "10m",
  });
  await expect.poll(async () => JSON.stringify((await txn()).status)).toContain("waitingFor");
  await remove(transaction("txn"));
  await expect.poll(() => exists(transaction("txn"))).toBe(false);
  const on = ["txn", "-n", namespace];
  const { code, stdout, stderr } = await janus("snapshot", "show", ...on);
  expect(code).toBe(0);
  expect(stderr).toContain(`Transaction ${namespace}/txn does not exist. This is what its snapshots have`);
  expect(parseAllDocuments(stdout).map((document) => document.toJS() as unknown)).toMatchObject([
    { kind: "ConfigMap", metadata: { name: "a" }, data: { was: "1" } },
    { kind: "Secret", metadata: { name: "key" }, data: { token: "***" } },
    null,
  ]);
  const token = Buffer.from("hunter2").toString("base64");
  expect((await janus("snapshot", "show", ...on, "secret/key", "--show-secrets")).stdout).toContain(token);
  expect((await janus("snapshot", "show", ...on, "cm/a")).stdout).not.toContain("key");
  expect(await janus("snapshot", "show", ...on, "cm/b")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no snapshot of cm\/b is kept.* There is:\n {2}ConfigMap \S+\/a\n {2}Secret/su),
  });
  for (const command of ["diff", "restore"])
    expect((await janus("snapshot", command, ...on)).stderr).toContain(
      `txn does not exist. Its snapshots are kept: kubectl janus snapshot show txn -n ${namespace}`,
    );
  expect((await janus("snapshot", "show", "other", "-n", namespace)).stderr).toContain(
    "no snapshots of one of its name",
  );
});
