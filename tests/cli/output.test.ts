import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { KubeObject } from "@janus/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { onCluster } from "../../packages/cli/src/cluster/cluster.ts";
import { outputTo } from "../../packages/cli/src/output/style.ts";
import { showProgress } from "../../packages/cli/src/progress/show-progress.ts";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { createDeep } from "../fixtures/nested.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { janus, janusWith, start } from "./command-line.ts";
import { hasTerminals, onTerminal } from "./on-terminal.ts";

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

/** A kubeconfig of the administrator in which the API server is elsewhere. */
const kubeconfigTo = (url: string): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "janus-kubeconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "config");
  writeFileSync(file, readFileSync(controlPlane.kubeconfig, "utf8").replace(server(), url));
  return file;
};

const server = (): string =>
  /https:\/\/127\.0\.0\.1:\d+/u.exec(readFileSync(controlPlane.kubeconfig, "utf8"))?.[0] ?? "";

const unreachable = (): string => kubeconfigTo("https://127.0.0.1:1");

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

/** A Transaction that waits for a gate that is never met. */
const waiting = async () => {
  const { namespace, janus: controller, submit, txn } = await workspace();
  await controller();
  await submit([{ ...creating(deployment("web", "web:v1")), waitFor: ["ready"] }], { timeout: "10m" });
  await expect.poll(async () => JSON.stringify((await txn()).status)).toContain("waitingFor");
  return namespace;
};

describe.skipIf(!hasTerminals)("on a terminal", () => {
  it("says, too, how to get back after Ctrl-C", async () => {
    const namespace = await waiting();
    const { written, type, ended, screen } = await onTerminal(`kubectl-janus watch txn -n ${namespace}`);
    await expect.poll(written).toContain("waiting");
    type("\u0003");
    expect(await ended).toBe(130);
    expect(await screen.text()).toContain(`kubectl janus rollback txn -n ${namespace}`);
  });

  it("keeps its warnings on the screen as long as they are true, and leaves no stale lines", async () => {
    const namespace = await waiting();
    const through = await tunnel({ port: Number(new URL(server()).port) });
    const kubeconfig = kubeconfigTo(`https://127.0.0.1:${through.port}`);
    const { screen, written, resize } = await onTerminal(`echo BEFORE; exec kubectl-janus watch txn -n ${namespace}`, {
      kubeconfig,
    });
    const onceEach = async () => {
      const text = await screen.text();
      return {
        isBefore: text.startsWith("BEFORE\nTransaction "),
        headlines: text.match(/^Transaction /gmu)?.length,
        changes: text.match(/^ … 1 {2}waiting/gmu)?.length,
        warnings: text.match(/Not connected/gu)?.length ?? 0,
      };
    };
    await expect.poll(onceEach).toEqual({ isBefore: true, headlines: 1, changes: 1, warnings: 0 });
    through.end();
    await expect.poll(onceEach).toEqual({ isBefore: true, headlines: 1, changes: 1, warnings: 1 });
    for (const columns of [45, 100]) {
      const then = written().length;
      await resize(columns, 24);
      await expect.poll(() => written().length).toBeGreaterThan(then); // its age changes each second
      await expect.poll(onceEach).toEqual({ isBefore: true, headlines: 1, changes: 1, warnings: 1 });
    }
    await tunnel({ port: Number(new URL(server()).port) }, through.port);
    await expect.poll(onceEach).toEqual({ isBefore: true, headlines: 1, changes: 1, warnings: 0 });
  });

  it.each([
    { columns: 0, rows: 0 },
    { columns: 80, rows: 0 },
  ])("of $columns columns and $rows rows writes as into a file", async (size) => {
    const { namespace, janus: controller, run } = await workspace();
    await controller();
    await run([creating(configMap("a"))]);
    const { ended, written } = await onTerminal(`kubectl-janus watch txn -n ${namespace}`, size);
    expect(await ended).toBe(0);
    expect(written()).toContain("Committed 1/1");
    expect(written()).not.toContain("\u001b[2K");
  });
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
  await run([failing], { name, timeout: "8s" });
  const { stdout } = await janus("explain", name, "-n", namespace);
  expect(stdout).toContain(`kubectl janus snapshot show ${name} -n ${namespace}`);
});
