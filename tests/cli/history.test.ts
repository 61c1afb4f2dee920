import { historySchema } from "../../packages/cli/src/reference/json-reference.ts";
import { undescribed } from "../fixtures/undescribed.ts";
import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { janus } from "./command-line.ts";

/** The cells of a table, without its first column, which is a time. */
const cells = (stdout: string): readonly (readonly string[])[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {3,}/u).slice(1));

it("tells which Transactions changed an object, by whom, and which of its fields are still theirs", async () => {
  const { namespace, create, run, submit, remove, janus: controller } = await workspace();
  await create(configMap("app", { a: "0", b: "0" }), configMap("other"));
  await controller();
  await run([patching(configMap("app", { a: "1" }))], { name: "gone" });
  // Of the same second, these are in the order of their names.
  await run([patching(configMap("app", { a: "2" }))], { name: "a-former" });
  await run([patching(configMap("app", { a: "3", c: "3" }))], { name: "a-later" });
  await run([patching(configMap("other", { a: "1" }))], { name: "b-elsewhere" });
  await run([creating(configMap("app"))], { name: "c-refused" });
  await run(
    [patching(configMap("app", { b: "4" })), { ...creating(deployment("web", "web:v1")), waitFor: ["ready"] }],
    { name: "back", timeout: "8s" },
  );
  await submit([patching(configMap("app", { a: "9" }))], { name: "draft", lifecycle: "Draft" });
  await remove(transaction("gone"));
  const of = (...args: readonly string[]) => janus("history", ...args, "-n", namespace);

  const { stdout, code } = await of("cm/app");
  expect(code).toBe(0);
  expect(cells(stdout)).toEqual([
    ["NAME", "CHANGE", "STATE", "FIELDS", "REQUESTED-BY"],
    ["a-former", "Patch", "Applied", "0", "-"],
    ["a-later", "Patch", "Applied", "2", "-"],
    ["back", "Patch", "RolledBack", "0", "-"],
  ]);
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).toMatch(/^20\d\d-\d\d-\d\dT\S+Z +a-former/mu);
  const wide = await of("configmaps", "app", "-o", "wide");
  expect(wide.stdout).toMatch(/^WHEN +NAME +CHANGE +STATE +PHASE +REQUESTED-BY +APPROVED-BY +UID +FIELDS$/mu);
  expect(wide.stdout).toMatch(/^\S+ +a-later +Patch +Applied +Committed .* \.data\.a,\.data\.c$/mu);
  expect((await of("ConfigMap/app", "-o", "name")).stdout).toBe(
    ["a-former", "a-later", "back"].map((name) => `transaction.backup.janus.io/${name}\n`).join(""),
  );
  const json: unknown = JSON.parse((await of("configmap/app", "-o", "json")).stdout);
  expect(json).toMatchObject([{ name: "a-former" }, { name: "a-later", fields: [".data.a", ".data.c"] }, {}]);
  expect(undescribed({ items: historySchema() }, json)).toEqual([]);
  expect(cells((await of()).stdout).map(([name, phase]) => [name, phase])).toEqual([
    ["NAME", "PHASE"],
    ["a-former", "Committed"],
    ["a-later", "Committed"],
    ["b-elsewhere", "Committed"],
    ["c-refused", "Failed"],
    ["back", "RolledBack"],
  ]);
});

it("knows of a Transaction that was deleted by the fields that it set", async () => {
  const { namespace, create, run, remove, janus: controller } = await workspace();
  await create(deployment("web", "web:v1"));
  await controller();
  const { metadata } = await run([patching(deployment("web", "web:v2"))], { name: "gone" });
  await remove(transaction("gone"));
  const { stdout } = await janus("history", "deployments.v1.apps/web", "-n", namespace, "-o", "json");
  expect(JSON.parse(stdout)).toEqual([
    {
      name: "gone",
      uid: metadata.uid,
      time: expect.stringMatching(/^20/u),
      fields: expect.arrayContaining(['.spec.template.spec.containers[name="web"].image']) as unknown,
    },
  ]);
});

it("names Transactions of other namespaces, and says where there are none", async () => {
  const [here, there] = [await workspace(), await workspace()];
  await there.create(configMap("app"));
  await there.create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "other" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "deployer", namespace: here.namespace }],
  });
  await here.janus();
  const { metadata, ...app } = configMap("app", { a: "1" });
  await here.run([patching({ ...app, metadata: { ...metadata, namespace: there.namespace } })], { name: "far" });
  const far = await janus("history", "cm/app", "-n", there.namespace, "-A");
  expect(cells(far.stdout)[1]?.slice(0, 3)).toEqual([here.namespace, "far", "Patch"]);
  expect(await janus("history", "cm/app", "-n", here.namespace)).toEqual({
    code: 0,
    stdout: "",
    stderr: `No Transactions found in namespace ${here.namespace} that changed cm/app.\n`,
  });
});

it.each([
  ["web", "web: name an object as kubectl does, like deployment/web"],
  ["deploy/web/x", "deploy/web/x: name an object as kubectl does, like deployment/web"],
  ["deployments.batch/web", "the API server serves no kind deployments.batch. To list them: kubectl api-resources"],
  ["gizmo/web", "the API server serves no kind gizmo. To list them: kubectl api-resources"],
])("does not know the object %s", async (target, message) => {
  expect(await janus("history", target)).toEqual({ code: 1, stdout: "", stderr: `error: ${message}\n` });
});

it("lists the others where a later version has written one, and says so of that one", async () => {
  const { namespace, create, run, patch, janus: controller } = await workspace();
  await create(configMap("app", { a: "0", b: "0" }));
  const running = await controller();
  await run([patching(configMap("app", { a: "1" }))], { name: "later" });
  await run([patching(configMap("app", { b: "1" }))], { name: "now" });
  await running.stop();
  await patch({ ...transaction("later"), status: { formatVersion: 2 } }, "status");
  const said = `Transaction ${namespace}/later cannot be read by this version of kubectl-janus: status.formatVersion: is 2`;

  const all = await janus("history", "-n", namespace);
  expect([all.code, all.stderr]).toEqual([0, expect.stringContaining(said)]);
  expect(cells(all.stdout).map(([name, phase]) => [name, phase])).toEqual([
    ["NAME", "PHASE"],
    ["later", "unreadable"],
    ["now", "Committed"],
  ]);
  const of = await janus("history", "cm/app", "-n", namespace);
  expect([of.code, of.stderr]).toEqual([0, expect.stringContaining(said)]);
  expect(cells(of.stdout)).toEqual([
    ["NAME", "CHANGE", "STATE", "FIELDS", "REQUESTED-BY"],
    ["later", "-", "unreadable", "1", "-"],
    ["now", "Patch", "Applied", "1", "-"],
  ]);
  const json: unknown = JSON.parse((await janus("history", "cm/app", "-n", namespace, "-o", "json")).stdout);
  expect(json).toMatchObject([{ name: "later", unreadable: expect.stringContaining("formatVersion") as unknown }, {}]);
  expect(undescribed({ items: historySchema() }, json)).toEqual([]);
});
