import { stat } from "node:fs/promises";
import { expect, it } from "vitest";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { bundled, directory, janus, janusWith, start } from "./command-line.ts";

it("is a plugin of kubectl, with completion", async () => {
  const { kubectl } = controlPlane.binaries;
  const { namespace, submit } = await workspace();
  await submit([], { name: "never" }).catch(() => undefined);
  const listed = await start(["janus", "get", "-n", namespace], { program: kubectl }).ended;
  expect(listed).toMatchObject({ code: 0, stderr: `No Transactions found in namespace ${namespace}.\n` });
  const completed = await start(["__complete", "janus", ""], { program: kubectl }).ended;
  expect(completed.stdout).toContain("plan\tshow what manifests");
  const script = await janus("completion", "bash");
  expect(script.stdout).toContain("kubectl-janus complete --");
});

it("completes the names of Transactions", async () => {
  const { namespace, submit } = await workspace();
  await submit([
    { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" }, content: configMap("a") },
  ]);
  const { stdout } = await janus("complete", "--", "watch", "-n", namespace, "");
  expect(stdout).toContain("txn");
});

it("helps: lists the commands, and names the flags of each", async () => {
  const { stdout, code } = await janus("--help");
  expect(code).toBe(0);
  expect(stdout.match(/^ {2}[a-z]+/gmu)?.map((line) => line.trim())).toEqual(
    expect.arrayContaining(
      "plan apply edit propose approve reject get watch describe explain rollback retry cancel history snapshot doctor version".split(
        " ",
      ),
    ),
  );
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  for (const command of ["plan", "apply", "get", "snapshot", "doctor"]) {
    const help = await janus(command, "--help");
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
  expect(await janus("aply")).toMatchObject({ code: 1, stderr: expect.stringContaining("Did you mean apply?") });
});

it("says whether the installation is sound, and whether a ServiceAccount may do what manifests take", async () => {
  const { namespace } = await workspace();
  const on = ["-n", namespace, "--service-account", "deployer"];
  const { stdout, code } = await janusWith(
    JSON.stringify(configMap("a")),
    "doctor",
    ...on,
    "-f",
    "-",
    "--deployment",
    "none",
  );
  expect(code).toBe(1);
  expect(stdout).toContain("✔ the CustomResourceDefinition has every field of this version");
  expect(stdout).toContain("✘ there is no Deployment janus-system/none");
  expect(stdout).toMatch(/✔ janus-requester: rejects a Transaction/u);
  expect(stdout).toMatch(/✔ janus-approval: rejects what is published without approval/u);
  expect(stdout).toContain(`✔ you may use ServiceAccount ${namespace}/deployer`);
  expect(stdout.replaceAll(/\s+/gu, " ")).toContain("deployer may make and roll back the change of");
  const outsider = await janus("doctor", "-n", namespace, "--as", "outsider");
  expect(outsider.stdout).toContain(`✘ you may not create Transactions in ${namespace}`);
  expect(outsider.stdout).toContain("? the CustomResourceDefinition cannot be looked at");
  expect((await janus("doctor", "-n", `${namespace}-x`)).stdout).toContain(`✘ there is no namespace ${namespace}-x`);
  // The built-in role edit may see nothing of the installation.
  const author = `system:serviceaccount:${namespace}:deployer`;
  expect(await janus("doctor", "-n", namespace, "--as", author)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("✔ you may create Transactions"),
  });
});

it("tells its version without a cluster, and all versions with one", async () => {
  const alone = await start(["version", "--client"], { env: { KUBECONFIG: "/nowhere" } }).ended;
  expect(alone).toMatchObject({ code: 0, stdout: "client: 0.1.0\n" });
  expect((await janus("version", "-o", "json")).stdout).toContain('"kubernetes": "v1.');
});

it("answers to help COMMAND and to --version", async () => {
  const { stdout } = await janus("snapshot", "show", "--help");
  expect(await janus("help", "snapshot", "show")).toEqual({ code: 0, stdout, stderr: "" });
  expect(await janus("help")).toEqual(await janus("--help"));
  expect((await janus("--version")).stdout).toBe("client: 0.1.0\n");
});

it("says what is wrong with the kubeconfig, and what to do", async () => {
  const nowhere = await start(["get"], { env: { KUBECONFIG: "/nowhere" } }).ended;
  expect(nowhere.code).toBe(1);
  expect(nowhere.stderr).toMatch(/^error: KUBECONFIG: \/nowhere cannot be used as a kubeconfig/u);
  const context = await janus("get", "--context", "other");
  expect(context.stderr).toContain('the context "other" does not exist');
});

it("has no colour in a pipe, with NO_COLOR, or with TERM=dumb, and has it where it is asked for", async () => {
  const { namespace } = await workspace();
  const args = ["doctor", "-n", namespace];
  const outputs = await Promise.all(
    [{}, { FORCE_COLOR: "1", NO_COLOR: "1" }, { FORCE_COLOR: "1" }].map((env) => start(args, { env }).ended),
  );
  expect(outputs.map(({ stdout }) => stdout.includes("\u001b["))).toEqual([false, false, true]);
});

it("is one file that needs nothing beside it", async () => {
  expect((await stat(bundled)).size).toBeLessThan(3_000_000);
  expect(directory).not.toContain("node_modules");
});
