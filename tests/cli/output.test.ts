import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { KubeObject } from "@janus/types";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { onCluster } from "../../packages/cli/src/cluster/cluster.ts";
import { outputTo } from "../../packages/cli/src/output/style.ts";
import { showProgress } from "../../packages/cli/src/progress/show-progress.ts";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { createDeep } from "../fixtures/nested.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { directory, janus, janusWith, start } from "./command-line.ts";

const as = ["--service-account", "deployer"];

it("stops quietly when its reader has seen enough", async () => {
  const { namespace } = await workspace();
  const pipeline = `kubectl-janus plan -f - -n ${namespace} ${as.join(" ")} | true`;
  const running = start(["-c", pipeline], { program: "sh", stdin: JSON.stringify(configMap("a")) });
  expect(await running.ended).toEqual({ code: 0, stdout: "", stderr: "" });
});

it("prints nothing but the name with -o name, also when it waits", async () => {
  const { namespace, janus: controller } = await workspace();
  await controller();
  const flags = ["-n", namespace, ...as, "--name", "named", "-o", "name"];
  const { code, stdout } = await janusWith(JSON.stringify(configMap("a")), "apply", "-f", "-", ...flags);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "transaction.backup.janus.io/named\n" });
});

it.each(["json", "yaml"])("prints all other Transactions as %s beside one that is nested too deep", async (format) => {
  const [{ namespace }, other] = [await workspace(), await workspace()];
  await createDeep(namespace, "1");
  await other.submit([creating(configMap("a", { good: "content" }))], { name: "good" });
  const { code, stdout, stderr } = await janus("get", "-A", "-o", format);
  expect(code).toBe(0);
  expect(stderr).toContain(
    `Transaction ${namespace}/deep is nested deeper than 500 levels: its spec and managedFields are left out.\n`,
  );
  const { items } = parse(stdout) as { readonly items: readonly KubeObject[] };
  const printed = (place: string) => items.find(({ metadata }) => metadata.namespace === place);
  expect(printed(namespace)).toMatchObject({
    kind: "Transaction",
    metadata: { name: "deep", uid: expect.any(String) },
  });
  expect(printed(namespace)).not.toHaveProperty("spec");
  expect(printed(other.namespace)).toMatchObject({ spec: { changes: [{ content: { data: { good: "content" } } }] } });
  expect((await janus("get", "deep", "-n", namespace, "-o", format)).code).toBe(0);
});

const unreachable = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "janus-kubeconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "config");
  const config = readFileSync(controlPlane.kubeconfig, "utf8");
  writeFileSync(file, config.replace(/https:\/\/127\.0\.0\.1:\d+/u, "https://127.0.0.1:1"));
  return file;
};

it("does not wait for a Transaction that it cannot see", async () => {
  const { code, stderr } = await janus("watch", "txn", "-n", "default", "--kubeconfig", unreachable());
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot watch Transaction default\/txn: API server at https:\/\/127\.0\.0\.1:1: /u);
});

it("says of a server with another certificate what is wrong, and gives no advice on Node", async () => {
  const file = unreachable();
  const config = readFileSync(controlPlane.kubeconfig, "utf8");
  writeFileSync(file, config.replace(/"?certificate-authority-data"?: ?"?[\w+/=]+"?,?/u, ""));
  const { stderr } = await janus("watch", "txn", "-n", "default", "--kubeconfig", file);
  expect(stderr).toContain("x509: certificate signed by unknown authority");
  expect(stderr).not.toMatch(/node/iu);
});

it("says once that the API server cannot be reached, and no more of the rest", async () => {
  const { code, stdout } = await janus("doctor", "--kubeconfig", unreachable());
  expect(code).toBe(1);
  expect(stdout.match(/connection\s+refused/gu)).toHaveLength(1);
  expect(stdout).toContain("kubectl config view --minify");
  expect(stdout).not.toContain("may not create");
});

const hasScript = spawnSync("script", ["--version"]).status === 0;

it.skipIf(!hasScript)("says on a terminal, too, how to get back after Ctrl-C", async () => {
  const { namespace, janus: controller, submit } = await workspace();
  await controller();
  await submit([{ ...creating(deployment("web", "web:v1")), waitFor: ["ready"] }], { timeout: "8s" });
  const command = `kubectl-janus watch txn -n ${namespace}`;
  const env = { ...process.env, PATH: `${directory}:${process.env["PATH"]}`, KUBECONFIG: controlPlane.kubeconfig };
  const terminal = spawn("script", ["-qec", `stty rows 24 cols 80; ${command}`, "/dev/null"], { env });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  let written = "";
  terminal.stdout.on("data", (chunk: Buffer) => void (written += chunk.toString()));
  const ended = new Promise((resolve) => terminal.on("close", resolve));
  await expect.poll(() => written).toContain("waiting");
  terminal.stdin.write("\u0003");
  expect(await ended).toBe(130);
  expect(written).toContain(`kubectl janus rollback txn -n ${namespace}`);
});

it("ends with a code of its own if the Transaction is deleted while it is watched", async () => {
  const { namespace, submit, remove } = await workspace();
  await submit([creating(configMap("a"))]);
  const running = start(["watch", "txn", "-n", namespace]);
  onTestFinished(() => running.kill("SIGKILL"));
  await expect.poll(running.written).toContain("Pending");
  await remove(transaction("txn"));
  expect(await running.ended).toMatchObject({
    code: 5,
    stderr: `error: Transaction ${namespace}/txn was deleted; its last phase was Pending\n`,
  });
});

it("shows no other Transaction that has got the name of the one that is followed", async () => {
  const { namespace, submit, remove, txn } = await workspace();
  await submit([creating(configMap("a"))]);
  const { uid } = (await txn()).metadata;
  await remove(transaction("txn"));
  await submit([creating(configMap("b"))]);
  const output = { ...outputTo(process.stdout), write: () => {} };
  const following = onCluster({ kubeconfig: controlPlane.kubeconfig, namespace }, (cluster) =>
    showProgress(cluster, "txn", { output, format: "name", uid, isOver: () => true }),
  );
  await expect(following).rejects.toMatchObject({
    exitCode: 5,
    message: `Transaction ${namespace}/txn was deleted, and there is another one of its name; its last phase was not seen`,
  });
});

it("leaves the command to run next in one piece, however long the name is", async () => {
  const { namespace, run, janus: controller } = await workspace();
  const name = `release-${"with-a-long-name-".repeat(4)}indeed`;
  await controller();
  const failing = { ...creating(deployment("web", "web:v1")), waitFor: ["ready"] };
  await run([failing], { name, timeout: "3s" });
  const { stdout } = await janus("explain", name, "-n", namespace);
  expect(stdout).toContain(`kubectl janus snapshot show ${name} -n ${namespace}`);
});
