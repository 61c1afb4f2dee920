import { spawn, spawnSync } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { creating, deleting } from "../fixtures/changes.ts";
import { controlPlane, kubectl } from "../fixtures/cluster.ts";
import { configMap, deployment, secret } from "../fixtures/manifests.ts";
import { transaction, workspace, type Workspace } from "../fixtures/workspace.ts";
import { directory, janus, janusWith, start } from "./command-line.ts";

const stream = (...manifests: readonly object[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");
const flat = (text: string): string => text.replaceAll(/\s+/gu, " ");
const as = ["--service-account", "deployer"];
const bob = ["--as", "bob", "--as-group", "system:masters"];

const draft = ({ namespace }: Workspace, manifests: string, ...flags: readonly string[]) =>
  janusWith(manifests, "plan", "--draft", "-f", "-", "-n", namespace, ...as, "--name", "txn", ...flags);

it("creates a Draft, shows its render as a plan, and says what to do next", async () => {
  const made = await workspace();
  const { namespace, create, txn } = made;
  await create(configMap("changed", { version: "1.0", kept: "yes" }), configMap("same", { a: "1" }));
  await create(secret("hidden", { key: "hunter2" }));
  await made.janus();
  const drafted = await draft(
    made,
    stream(
      deployment("new", "web:v1"),
      configMap("changed", { version: "2.0" }),
      configMap("same", { a: "1" }),
      secret("hidden", { key: "hunter3" }),
    ),
  );
  expect(drafted).toMatchObject({ code: 1, stderr: "" });
  const { stdout } = drafted;
  expect(stdout).toContain(
    [
      `Transaction ${namespace}/txn, as ServiceAccount deployer:`,
      "  timeout 30m, deletionPolicy Release",
      "",
      ` 1  change     Secret ${namespace}/hidden`,
      ` 2  change     ConfigMap ${namespace}/changed`,
      ` 3  unchanged  ConfigMap ${namespace}/same`,
      ` 4  create     Deployment ${namespace}/new`,
      "",
    ].join("\n"),
  );
  expect(stdout).toContain(`ConfigMap ${namespace}/changed\n- .data.version: "1.0"\n+ .data.version: "2.0"\n`);
  expect(stdout).toMatch(/^1 to create, 2 to change, 1 unchanged$/mu);
  expect(stdout).toContain(`To propose it:  kubectl janus propose txn -n ${namespace}\n`);
  expect(stdout).not.toMatch(/hunter|aHVudGVy/u);
  expect(await txn()).toMatchObject({
    metadata: { annotations: { "backup.janus.io/requested-by": "admin", "backup.janus.io/last-edited-by": "admin" } },
    spec: { lifecycle: "Draft" },
  });
});

it("ends as a plan does, and prints the Draft for other programs", async () => {
  const made = await workspace();
  const { namespace, create } = made;
  await create(configMap("same", { a: "1" }));
  await made.janus();
  const none = await draft(made, stream(configMap("same", { a: "1" })), "-o", "json");
  expect(none.code).toBe(0);
  expect(JSON.parse(none.stdout)).toMatchObject({ status: { render: { result: "OK", observedGeneration: 1 } } });
  expect(await draft(made, stream(configMap("same")))).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`exists, and is a Draft: choose another name, or edit it: kubectl janus edit txn`),
  });
  const manifest = {
    ...transaction("bad"),
    spec: { serviceAccountName: "deployer", changes: [deleting(configMap("none"))] },
  };
  const failing = await janusWith(stream(manifest), "plan", "--draft", "-f", "-", "-n", namespace);
  expect(failing.code).toBe(2);
  expect(flat(failing.stdout)).toMatch(/1 FAILS ConfigMap \S+ It would fail, with nothing changed: - change 1: /u);
});

it("does not apply what is not to be executed yet", async () => {
  const { namespace } = await workspace();
  const manifest = {
    ...transaction("txn"),
    spec: { serviceAccountName: "deployer", lifecycle: "Draft", changes: [creating(configMap("a"))] },
  };
  const { code, stderr } = await janusWith(stream(manifest), "apply", "-f", "-", "-n", namespace);
  expect({ code, stderr: flat(stderr) }).toEqual({
    code: 1,
    stderr: expect.stringContaining("its spec.lifecycle is Draft"),
  });
});

/** A rendered Draft, proposed by the administrator, whose approval patches a ConfigMap. */
const proposed = async (): Promise<Workspace> => {
  const made = await workspace();
  await made.create(configMap("app", { version: "1.0" }));
  await made.janus();
  await draft(made, stream(configMap("app", { version: "2.0" })));
  await janus("propose", "txn", "-n", made.namespace);
  return made;
};

it("shows control characters that others have put into a Transaction, and obeys none of them", async () => {
  const made = await workspace();
  const { namespace, create } = made;
  await create(configMap("app", { version: "1.0" }));
  await made.janus();
  // It turns the direction of what follows.
  await draft(made, stream(configMap("app", { version: "2.0\u202e" })));
  await janus("propose", "txn", "-n", namespace);
  await janus("reject", "txn", "-n", namespace, "--reason", "\u001b[2Kfine\n\nRequested by bob.");
  for (const command of ["describe", "explain", "get"]) {
    const { stdout } = await janus(command, "txn", "-n", namespace);
    expect([command, /[^\P{Cc}\n]|\p{Bidi_Control}/u.test(stdout)]).toEqual([command, false]);
    expect(stdout).not.toMatch(/^Requested by bob/mu);
  }
  // After each move the Draft is rendered again.
  const described = async () => (await janus("describe", "txn", "-n", namespace)).stdout;
  await expect.poll(described).toContain('"2.0\\u202e"');
  expect(flat(await described())).toContain("\\u001b[2Kfine\\u000a\\u000aRequested by bob.");
  const { stdout: approved } = await janus("approve", "txn", "-n", namespace, "--yes", ...bob);
  expect(approved).toContain('+ .data.version: "2.0\\u202e"\n');
});

it("names what it does not show, which is not approved without asking", async () => {
  const made = await workspace();
  const { namespace, create, txn } = made;
  const long = "# a line\n".repeat(100);
  await create(configMap("app", { conf: `${long}old\n${long}`, version: "1" }), secret("key", { key: "hunter2" }));
  await made.janus();
  const changed = configMap("app", { conf: `${long}new\n${long}the end`, version: "2" });
  await draft(made, stream(changed, secret("key", { key: "hunter3" })));
  await janus("propose", "txn", "-n", namespace);
  const { code, stdout, stderr } = await janus("approve", "txn", "-n", namespace, "--yes");
  expect(stdout).toContain(`Content of change 2 (ConfigMap ${namespace}/app):\n`);
  expect(stdout).toContain("    the end\n");
  expect(stdout).toContain(`  - change 2 (ConfigMap ${namespace}/app): the whole value of .data.conf\n`);
  expect(stdout).toContain(`  - change 1 (Secret ${namespace}/key): the values\n`);
  expect(stdout).not.toMatch(/hunter|aHVudGVy/u);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("--yes approves only what is shown") });
  expect(await txn()).toMatchObject({ spec: { lifecycle: "Proposed" } });
});

it("approves what it has shown, with its digest, and waits for the end where that is asked for", async () => {
  const made = await proposed();
  const { namespace, txn, read } = made;
  const approved = await janus("approve", "txn", "-n", namespace, "--yes", "--wait", ...bob);
  expect(approved).toMatchObject({ code: 0, stderr: "" });
  expect(approved.stdout).toContain(`- .data.version: "1.0"\n+ .data.version: "2.0"\n`);
  expect(approved.stdout).toContain("Requested by admin, last edited by admin, proposed by admin.\n");
  expect(approved.stdout).toContain("Committed 1/1");
  const { metadata, spec } = await txn();
  expect(spec).toMatchObject({ lifecycle: "Published", approvedDigest: expect.stringMatching(/^sha256:/u) as unknown });
  expect(metadata.annotations).toMatchObject({
    "backup.janus.io/approved-by": "bob",
    "backup.janus.io/lifecycle-changed-by": "bob",
    "backup.janus.io/last-edited-by": "admin",
  });
  expect((await read(configMap("app")))["data"]).toEqual({ version: "2.0" });
  expect(await janus("approve", "txn", "-n", namespace, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is Published: it has been executed (Committed). To see how it went: "),
  });
});

it("never shows the render of another generation: it waits for that of the present one", async () => {
  const made = await workspace();
  const { namespace, create, patch, txn } = made;
  await create(configMap("app", { version: "1.0" }));
  const { stop } = await made.janus();
  await draft(made, stream(configMap("app", { version: "2.0" })));
  await stop();
  const { changes } = (await txn()).spec;
  await patch({
    ...transaction("txn"),
    spec: { changes: changes.map((one) => ({ ...one, content: configMap("app", { version: "3.0" }) })) },
  });
  const approving = start(["approve", "txn", "-n", namespace, "--yes"]);
  await expect.poll(approving.written).toContain("Waiting for the controller");
  await made.janus();
  const { code, stdout } = await approving.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('+ .data.version: "3.0"');
  expect(stdout).not.toContain("2.0");
});

it("applies nothing if it would do something else than what was approved, and explains that", async () => {
  const made = await workspace();
  const { namespace, create, patch, read } = made;
  await create(configMap("app", { version: "1.0" }));
  const { stop } = await made.janus();
  await draft(made, stream(configMap("app", { version: "2.0" })));
  await stop();
  await patch(configMap("app", { version: "1.5" }));
  const approving = start(["approve", "txn", "-n", namespace, "--yes", "--wait"]);
  await expect.poll(approving.written).toContain("is approved.");
  await made.janus();
  expect((await approving.ended).code).toBe(3);
  expect((await read(configMap("app")))["data"]).toEqual({ version: "1.5" });
  const explained = flat((await janus("explain", "txn", "-n", namespace)).stdout);
  expect(explained).toMatch(/^It failed: it would have done something else than what was approved\. Why: .*version/u);
  expect(explained).toContain("Next: look at what has changed, and have it approved again under a new name");
});

it("asks, and approves nothing where nobody can answer", async () => {
  const { namespace, txn } = await proposed();
  const unasked = await janus("approve", "txn", "-n", namespace);
  expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining("add --yes") });
  expect(unasked.stdout).toContain('+ .data.version: "2.0"');
  expect((await txn()).spec).toMatchObject({ lifecycle: "Proposed" });
});

interface Terminal {
  readonly written: () => string;
  readonly type: (text: string) => void;
  readonly ended: Promise<unknown>;
}

const onTerminal = (command: string): Terminal => {
  const env = { ...process.env, PATH: `${directory}:${process.env["PATH"]}`, KUBECONFIG: controlPlane.kubeconfig };
  const terminal = spawn("script", ["-qec", `stty rows 24 cols 80; ${command}`, "/dev/null"], { env });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  let written = "";
  terminal.stdout.on("data", (chunk: Buffer) => void (written += chunk.toString()));
  const ended = new Promise((resolve) => terminal.on("close", resolve));
  return { written: () => written, type: (text) => void terminal.stdin.write(text), ended };
};
const hasScript = spawnSync("script", ["--version"]).status === 0;

it.skipIf(!hasScript).each([
  ["\n", 1, "Proposed"],
  ["no\n", 1, "Proposed"],
  ["\u0003", 130, "Proposed"],
  ["y\n", 0, "Published"],
])("takes the answer %j on a terminal", async (answer, code, lifecycle) => {
  const { namespace, txn } = await proposed();
  const terminal = onTerminal(`kubectl-janus approve txn -n ${namespace}`);
  await expect.poll(terminal.written).toContain("Approve it? [y/N] ");
  terminal.type(answer);
  expect(await terminal.ended).toBe(code);
  expect((await txn()).spec).toMatchObject({ lifecycle });
});

/** Changes the Transaction between the question of `approve` and the answer `y`. */
const meanwhile = async ({ namespace }: Workspace, change: () => Promise<unknown>) => {
  const terminal = onTerminal(`kubectl-janus approve txn -n ${namespace}`);
  await expect.poll(terminal.written).toContain("Approve it? [y/N] ");
  await change();
  terminal.type("y\n");
  return { code: await terminal.ended, written: flat(terminal.written()) };
};

it.skipIf(!hasScript)("does not approve what was edited since it was shown", async () => {
  const made = await proposed();
  const { namespace, txn, patch } = made;
  const { code, written } = await meanwhile(made, async () => {
    await janus("reject", "txn", "-n", namespace);
    await patch({ ...transaction("txn"), spec: { timeout: "7m" } });
    await janus("propose", "txn", "-n", namespace);
  });
  expect(code).toBe(1);
  expect(written).toContain("it was edited, or would do something else, since it was shown");
  expect((await txn()).spec).toMatchObject({ lifecycle: "Proposed" });
});

it.skipIf(!hasScript)("does not approve what would do something else since it was shown", async () => {
  const made = await proposed();
  const { txn, patch } = made;
  const digest = async () => Object(Object((await txn()).status)["render"])["digest"] as unknown;
  const before = await digest();
  const { code, written } = await meanwhile(made, async () => {
    await patch(configMap("app", { version: "1.5" }));
    await expect.poll(digest).not.toBe(before);
  });
  expect(code).toBe(1);
  expect(written).toContain("since it was shown. To look at it again: kubectl janus approve txn -n ");
  expect((await txn()).spec).toMatchObject({ lifecycle: "Proposed" });
});

it.skipIf(!hasScript)("approves although a label was written since it was shown", async () => {
  const made = await proposed();
  const { code } = await meanwhile(made, () => kubectl("label", "transaction", "txn", "-n", made.namespace, "a=b"));
  expect(code).toBe(0);
  expect((await made.txn()).spec).toMatchObject({ lifecycle: "Published" });
});

it("warns of a Draft, and of one that would fail, which it does not approve without asking", async () => {
  const made = await workspace();
  await made.janus();
  await made.submit([deleting(configMap("none"))], { lifecycle: "Draft" });
  const { code, stdout, stderr } = await janus("approve", "txn", "-n", made.namespace, "--yes");
  expect(code).toBe(1);
  expect(flat(stdout)).toContain("Requested by an unknown user, last edited by an unknown user.");
  expect(stdout).toContain("Warning: It is a Draft that was not proposed.\n");
  expect(stdout).toContain("Warning: It would fail.");
  expect(stderr).toContain("nothing was approved: it would fail");
  expect((await made.txn()).spec).toMatchObject({ lifecycle: "Draft" });
});
