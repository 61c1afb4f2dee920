import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, workspace, type Workspace } from "../fixtures/workspace.ts";
import { janus, janusWith, start } from "./command-line.ts";

const OURS = "backup.janus.io/";
/** The administrator of the control plane. */
const ME = "admin";

const drafted = async (lifecycle = "Draft"): Promise<Workspace> => {
  const made = await workspace();
  await made.submit([creating(configMap("a", { value: "1" }))], { lifecycle });
  return made;
};

/** What the API server has of it: lifecycle, our annotations without their prefix, and the value that it would set. */
const seen = async ({ read }: Workspace) => {
  const { metadata, spec } = await read(transaction("txn"));
  const ours = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(OURS));
  const { lifecycle, changes } = spec as { lifecycle: string; changes: { content: { data: { value: string } } }[] };
  return {
    lifecycle,
    value: changes[0]?.content.data.value,
    ...Object.fromEntries(ours.map(([name, value]) => [name.slice(OURS.length), value])),
  };
};

/** An editor that runs this script on the file `$1`. */
const editor = (script: string): { readonly KUBE_EDITOR: string } => {
  const directory = mkdtempSync(path.join(tmpdir(), "janus-editor-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "editor");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  // With an argument, as `code --wait` has one.
  return { KUBE_EDITOR: `${file} --wait` };
};
const SET_2 = `sed -i 's/value: "1"/value: "2"/' "$2"`;

/** A command that changes the Transaction behind the editor's back. */
const patching = (patch: string, { namespace }: Workspace): string =>
  `${controlPlane.binaries.kubectl} patch transaction txn -n ${namespace} --type=merge --patch='${patch}'`;

const edit = ({ namespace }: Workspace, script: string) =>
  start(["edit", "txn", "-n", namespace], { env: editor(script) }).ended;

it("edits a Draft, and records who did", async () => {
  const made = await drafted();
  expect(await edit(made, SET_2)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Transaction ${made.namespace}/txn is edited.\n`),
  });
  expect(await seen(made)).toMatchObject({ lifecycle: "Draft", value: "2", "last-edited-by": ME });
});

it.each([
  ["is left as it is", "true"],
  ["is emptied", ': > "$2"'],
  ["is deleted", 'rm "$2"'],
  ["is only written in another way", `sed -i 's/kind: Transaction/kind: "Transaction"/' "$2"`],
])("says that nothing was changed if the text %s", async (_, script) => {
  const made = await drafted();
  const { generation } = (await made.txn()).metadata;
  expect(await edit(made, script)).toEqual({ code: 0, stdout: "Edit cancelled: nothing was changed.\n", stderr: "" });
  expect((await made.txn()).metadata.generation).toBe(generation);
});

it("says that nothing was changed by a manifest that leaves out what the API server sets by default", async () => {
  const made = await drafted();
  const { spec } = await made.txn();
  const { name, namespace } = { name: "txn", namespace: made.namespace };
  const { serviceAccountName, changes } = spec as unknown as { serviceAccountName: string; changes: unknown };
  const manifest = {
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name, namespace },
    spec: { serviceAccountName, changes },
  };
  const answer = await janusWith(JSON.stringify(manifest), "edit", name, "-n", namespace, "-f", "-");
  expect(answer).toEqual({ code: 0, stdout: "Edit cancelled: nothing was changed.\n", stderr: "" });
});

it("says that nothing was changed where only a comment was, and somebody else has written the Transaction meanwhile", async () => {
  const made = await drafted();
  const label = patching('{"metadata":{"labels":{"seen":"yes"}}}', made);
  const answer = await edit(made, `${label} >&2; echo "# looked at it" >> "$2"`);
  expect(answer).toMatchObject({ code: 0, stdout: "Edit cancelled: nothing was changed.\n" });
  expect(await seen(made)).not.toHaveProperty("last-edited-by");
});

it("does not watch a Draft, also one that was set back, since nobody is about to execute it", async () => {
  const { namespace } = await drafted("Proposed");
  const watching = start(["watch", "txn", "-n", namespace]);
  await expect.poll(watching.written).toContain("observed");
  expect((await janus("reject", "txn", "-n", namespace)).code).toBe(0);
  const refused = {
    code: 1,
    stderr: expect.stringContaining(
      `txn is a Draft: there is nothing to watch before it is proposed. To see what comes next: kubectl janus explain txn -n ${namespace}`,
    ),
  };
  expect(await watching.ended).toMatchObject(refused);
  expect(await janus("watch", "txn", "-n", namespace)).toMatchObject(refused);
});

it("says after Ctrl-C what a proposed Transaction waits for, since no controller goes on with it", async () => {
  const { namespace } = await drafted("Proposed");
  const watching = start(["watch", "txn", "-n", namespace]);
  await expect.poll(watching.written).toContain("observed");
  watching.kill("SIGINT");
  expect(await watching.ended).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/is Proposed: nothing is applied before it is approved.*janus explain txn -n /su),
  });
});

it("waits for no vi that nobody can type into", async () => {
  const { namespace } = await drafted();
  const { ended } = start(["edit", "txn", "-n", namespace], { env: { EDITOR: "", KUBE_EDITOR: "" } });
  expect(await ended).toEqual({
    code: 1,
    stdout: "",
    stderr: "error: the standard input is not a terminal: add -f FILE, or set KUBE_EDITOR\n",
  });
});

const kept = (stderr: string): string => {
  const [, file = ""] = /What you wrote is kept in (\S+)\. When it is right: /u.exec(stderr) ?? [];
  onTestFinished(() => rmSync(path.dirname(file), { recursive: true }));
  return file;
};

it("keeps what was written if it is not valid, and takes it when it is corrected", async () => {
  const made = await drafted();
  const broken = await edit(made, `${SET_2}; sed -i 's/type: Create/type: Destroy/' "$2"`);
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining("spec.changes[0].type: ") });
  const file = kept(broken.stderr);
  expect(broken.stderr).toContain(`kubectl janus edit txn -n ${made.namespace} -f ${file}\n`);
  writeFileSync(file, readFileSync(file, "utf8").replace("Destroy", "Create"));
  expect((await janus("edit", "txn", "-n", made.namespace, "-f", file)).code).toBe(0);
  expect(await seen(made)).toMatchObject({ value: "2" });
});

it("never overwrites the edit of somebody else", async () => {
  const made = await drafted();
  const theirs = JSON.stringify({ spec: { timeout: "7m" } });
  const refused = await edit(made, `${SET_2}; ${patching(theirs, made)}`);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("another user has edited or proposed it"),
  });
  expect(readFileSync(kept(refused.stderr), "utf8")).toContain('value: "2"');
  expect(await seen(made)).toMatchObject({ value: "1" });
});

it("is not disturbed by what the controller writes meanwhile", async () => {
  const made = await drafted();
  const status = JSON.stringify({ status: { phase: "Pending", version: 1 } });
  const saved = await edit(made, `${SET_2}; ${patching(status, made)} --subresource=status`);
  expect(saved).toMatchObject({ code: 0, stderr: "" });
  expect(await seen(made)).toMatchObject({ value: "2" });
});

it("edits nothing but the Draft that it was called for", async () => {
  const made = await drafted();
  const other = await edit(made, `${SET_2}; sed -i 's/name: txn/name: other/' "$2"`);
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("/txn is to be edited") });
  kept(other.stderr);
  const moved = await edit(made, `${SET_2}; sed -i 's/^spec:/spec:\\n  lifecycle: Published/' "$2"`);
  expect(moved).toMatchObject({ code: 1, stderr: expect.stringContaining("an edit leaves spec.lifecycle as it is") });
  kept(moved.stderr);
  const cancelled = await edit(made, "exit 1");
  expect(cancelled).toMatchObject({ code: 1, stderr: expect.stringContaining("ended with code 1") });
  expect(await seen(made)).toMatchObject({ lifecycle: "Draft", value: "1" });
});

it("proposes a Draft and sets it back, and records who did and why", async () => {
  const made = await drafted();
  const on = ["txn", "-n", made.namespace];
  expect(await janus("propose", ...on)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`kubectl janus approve txn -n ${made.namespace}\n`),
  });
  expect(await seen(made)).toMatchObject({ lifecycle: "Proposed", "lifecycle-changed-by": ME });
  const rejected = await janus("reject", ...on, "--reason", "too early", "--as", "bob", "--as-group", "system:masters");
  expect(rejected).toMatchObject({ code: 0, stdout: expect.stringContaining("is a Draft again.\n") });
  expect(await seen(made)).toMatchObject({
    lifecycle: "Draft",
    "lifecycle-changed-by": "bob",
    "rejection-reason": "too early",
  });
  await janus("propose", ...on);
  expect(await seen(made)).not.toHaveProperty("rejection-reason");
  await janus("reject", ...on);
  expect(await seen(made)).not.toHaveProperty("rejection-reason");
});

it("does not repeat what the controller said about a Draft before it was proposed", async () => {
  const made = await drafted();
  const on = ["txn", "-n", made.namespace];
  const controller = await made.janus();
  await expect.poll(async () => (await janus("get", ...on)).stdout).toMatch(/: 1 to create; propose it /u);
  await controller.stop();
  await janus("propose", ...on);
  for (const command of ["get", "explain", "describe"]) {
    const said = (await janus(command, ...on)).stdout.replaceAll(/\s+/gu, " ");
    expect(said).toMatch(/(?:Message:|Why:|\d+s) no controller has looked at it since it was changed /u);
  }
});

it.each([
  ["edit", "Proposed", "is Proposed: it cannot be edited. To set it back to Draft: kubectl janus reject txn -n "],
  ["edit", "Published", "is Published: its spec cannot be changed. Create a new Transaction instead"],
  ["propose", "Proposed", "is Proposed: it waits for its approval. To approve it: kubectl janus approve txn -n "],
  ["propose", "Published", "is Published: it is being executed (Pending). To watch it: kubectl janus watch txn -n "],
  ["reject", "Draft", "is a Draft: it is not proposed. To delete it: kubectl delete transaction txn -n "],
  ["reject", "Published", "is Published: it is being executed (Pending). To watch it: kubectl janus watch txn -n "],
])("does not %s one that is %s, and says what to do instead", async (command, lifecycle, message) => {
  const made = await drafted(lifecycle);
  const { code, stderr } = await janus(command, "txn", "-n", made.namespace);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`error: Transaction ${made.namespace}/txn ${message}`),
  });
  expect((await seen(made)).lifecycle).toBe(lifecycle);
});

it("edits a Draft with the manifests of a plan, without an editor", async () => {
  const made = await drafted();
  const flags = ["-n", made.namespace, "--name", "txn", "--service-account", "deployer", "-o", "yaml"];
  const planned = await janusWith(JSON.stringify(configMap("b")), "plan", "-f", "-", ...flags);
  expect(await janusWith(planned.stdout, "edit", "txn", "-n", made.namespace, "-f", "-")).toMatchObject({ code: 0 });
  expect(await made.txn()).toMatchObject({ spec: { lifecycle: "Draft", changes: [{ target: { name: "b" } }] } });
});
