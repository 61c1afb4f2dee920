import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { kubectlWith } from "../fixtures/cluster.ts";
import { configMap, deployment, secret } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janus, janusWith } from "./command-line.ts";

const stream = (...manifests: readonly object[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");

const files = (contents: Readonly<Record<string, string>>): string => {
  const directory = mkdtempSync(path.join(tmpdir(), "janus-manifests-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  }
  return directory;
};

it("shows what manifests would change, and changes nothing", async () => {
  const { namespace, create, read, exists, names } = await workspace();
  await create(configMap("changed", { version: "1.0", kept: "yes" }), configMap("same", { a: "1" }));
  const manifests = stream(
    deployment("new", "web:v1"),
    configMap("changed", { version: "2.0" }),
    configMap("same", { a: "1" }),
  );
  const plan = await janusWith(manifests, "plan", "-f", "-", "-n", namespace, "--service-account", "deployer");
  expect(plan).toMatchObject({ code: 1, stderr: "" });
  const { stdout } = plan;
  expect(stdout).toMatch(/^Transaction t-\w+\/apply-\w+, as ServiceAccount deployer:$/mu);
  // ConfigMaps come before Deployments, as Helm has it.
  expect(stdout).toContain(
    [
      ` 1  change     ConfigMap ${namespace}/changed`,
      ` 2  unchanged  ConfigMap ${namespace}/same`,
      ` 3  create     Deployment ${namespace}/new`,
    ].join("\n"),
  );
  expect(stdout).toContain('-  version: "1.0"\n+  version: "2.0"');
  expect(stdout).not.toMatch(/kept: "no"|managedFields|resourceVersion/u);
  expect(stdout).toMatch(/^1 to create, 1 to change, 1 unchanged$/mu);
  expect((await read(configMap("changed")))["data"]).toEqual({ version: "1.0", kept: "yes" });
  expect(await exists(deployment("new", "web:v1"))).toBe(false);
  expect(await names("backup.janus.io/v1alpha1", "Transaction")).toEqual([]);
  expect(await names("coordination.k8s.io/v1", "Lease")).toEqual([]);
});

it("ends with 0 if nothing would change, and with more than 1 for errors", async () => {
  const { namespace, create } = await workspace();
  await create(configMap("same", { a: "1" }));
  const on = ["-n", namespace, "--service-account", "deployer"];
  expect(await janusWith(stream(configMap("same", { a: "1" })), "plan", "-f", "-", ...on)).toMatchObject({ code: 0 });
  expect((await janus("plan", "-f", "/nowhere", ...on)).code).toBeGreaterThan(1);
  expect((await janus("plan")).code).toBeGreaterThan(1);
  expect((await janusWith("{{ .Values }}", "plan", "-f", "-", ...on)).code).toBeGreaterThan(1);
});

it("never shows a value of a Secret, and says whether it differs", async () => {
  const { namespace, create } = await workspace();
  await create(secret("key", { password: "hunter2", user: "shop" }));
  const manifests = stream(secret("key", { password: "correct-horse", user: "shop" }));
  const { stdout, stderr } = await janusWith(
    manifests,
    "plan",
    "-f",
    "-",
    "-n",
    namespace,
    "--service-account",
    "deployer",
  );
  expect(stdout).toContain('-  password: "*** (before)"\n+  password: "*** (after)"');
  expect(stdout).toContain('user: "***"');
  for (const value of ["hunter2", "correct-horse"])
    for (const text of [value, Buffer.from(value).toString("base64")]) expect(stdout + stderr).not.toContain(text);
});

it("lists everything that would fail, in the words of the controller", async () => {
  const { namespace } = await workspace();
  const manifests = stream(configMap("a"), { ...deployment("web", "web:v1"), spec: { replicas: "many" } });
  const denied = await janusWith(manifests, "plan", "-f", "-", "-n", namespace);
  expect(denied.code).toBe(2);
  expect(denied.stdout).toContain("FAILS      ConfigMap");
  expect(denied.stdout.replaceAll(/\s+/gu, " ")).toContain(
    'cannot be read: configmaps "a" is forbidden: User "system:serviceaccount:' + namespace + ':default" cannot get',
  );
  const wrong = await janusWith(manifests, "plan", "-f", "-", "-n", namespace, "--service-account", "deployer");
  expect(wrong.code).toBe(2);
  expect(wrong.stdout).toContain(" 1  create     ConfigMap");
  expect(wrong.stdout.replaceAll(/\s+/gu, " ")).toContain("change 2: the API server refuses to create Deployment");
  const absent = await janusWith(manifests, "plan", "-f", "-", "-n", namespace, "--service-account", "nobody");
  expect(absent.stdout.replaceAll(/\s+/gu, " ")).toContain(
    `ServiceAccount nobody does not exist in ${namespace}: create it`,
  );
  const nowhere = await janusWith(manifests, "plan", "-f", "-", "-n", `${namespace}-x`);
  expect(nowhere).toMatchObject({
    code: 2,
    stdout: expect.stringContaining(`- there is no namespace ${namespace}-x: `),
  });
});

it("lists a change of a kind that is not served among the others, with the same number as in what is said of it", async () => {
  const { namespace } = await workspace();
  const misspelt = { ...configMap("b"), kind: "ConfigMapp" };
  const { code, stdout } = await janusWith(stream(configMap("a"), misspelt), "plan", "-f", "-", "-n", namespace);
  expect(code).toBe(2);
  const [, number] = /^ (\d) {2}FAILS +ConfigMapp \S+\/b$/mu.exec(stdout) ?? [];
  expect(stdout).toContain(`- change ${number}: the API server does not serve ConfigMapp in v1: `);
  // All others are tried all the same.
  expect(stdout).toMatch(/^ \d {2}FAILS +ConfigMap \S+\/a$/mu);
  expect(stdout).toContain("ServiceAccount default may not change ConfigMap");
});

it("reads files, directories, Lists and the standard input, and says where a manifest is wrong", async () => {
  const { namespace } = await workspace();
  const list = { apiVersion: "v1", kind: "List", items: [configMap("one"), configMap("two")] };
  const directory = files({
    "list.json": JSON.stringify(list),
    "three.yaml": `---\n---\n# nothing\n---\n${JSON.stringify(configMap("three"))}\n`,
    "readme.txt": "not a manifest",
    "deeper/four.yml": JSON.stringify(configMap("four")),
  });
  const on = ["-n", namespace, "-o", "yaml"];
  const flat = await janus("plan", "-f", directory, ...on);
  expect(flat.stdout.match(/name: (one|two|three|four)$/gmu)).toEqual(["name: one", "name: two", "name: three"]);
  const deep = await janus("plan", "-R", "-f", directory, ...on);
  expect(deep.stdout).toContain("name: four");
  const bad = files({ "bad.yaml": `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\n` });
  expect((await janus("plan", "-f", bad, ...on)).stderr).toContain(
    `${path.join(bad, "bad.yaml")}, line 5: apiVersion, metadata.name missing`,
  );
  // In the same namespace, whether or not it is written.
  const twice = stream(configMap("a"), { ...configMap("a"), metadata: { name: "a", namespace } });
  expect((await janusWith(twice, "plan", "-f", "-", ...on)).stderr).toMatch(
    /line 3: ConfigMap a is also in standard input, line 1/u,
  );
});

it("prints a Transaction that kubectl accepts, and plans one that is given", async () => {
  const { namespace, txn } = await workspace();
  const on = [
    "-n",
    namespace,
    "--service-account",
    "deployer",
    "--name",
    "release",
    "--wait-for",
    "ready",
    "--timeout",
    "5m",
  ];
  const { stdout } = await janusWith(stream(configMap("a", { a: "1" })), "plan", "-f", "-", ...on, "-o", "yaml");
  const skipping = [...on, "--skip-wait-for"];
  const skipped = await janusWith(stream(configMap("a")), "plan", "-f", "-", ...skipping, "cm/a", "-o", "yaml");
  expect(skipped.stdout).toContain("waitFor: []");
  const unknown = await janusWith(stream(configMap("a")), "plan", "-f", "-", ...skipping, "Job/b");
  expect(unknown.stderr).toContain("--skip-wait-for Job/b: no manifest is called so");
  const given = await janusWith(stdout, "plan", "-f", "-");
  expect(given).toMatchObject({ code: 1, stderr: "" });
  expect(given.stdout).toContain(`Transaction ${namespace}/release, as ServiceAccount deployer:`);
  expect(await kubectlWith({ stdin: stdout }, "create", "-f", "-")).toMatchObject({ code: 0 });
  expect((await txn("release")).spec).toMatchObject({
    timeout: "5m",
    waitFor: ["ready"],
    waitAt: "End",
    changes: [{ type: "Apply" }],
  });
  const invalid = stdout.replace("timeout: 5m", "timeout: soon");
  expect((await janusWith(invalid, "plan", "-f", "-")).stderr).toContain("spec.timeout: must be a duration");
});

it("says whom a user may not act as", async () => {
  const { namespace } = await workspace();
  const plan = await janusWith(stream(configMap("a")), "plan", "-f", "-", "-n", namespace, "--as", "outsider");
  expect(plan).toMatchObject({ code: 2, stderr: "" });
  expect(plan.stdout).toContain(` 1  not tried  ConfigMap ${namespace}/a\n`);
  expect(plan.stdout.replaceAll(/\s+/gu, " ")).toContain(
    `- you may not create Transactions in ${namespace}: the built-in role edit has the permission ` +
      `- you may not use ServiceAccount ${namespace}/default: you need the verb impersonate on it; the built-in role edit has that`,
  );
});
