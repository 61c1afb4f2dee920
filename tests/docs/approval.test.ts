import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { commandsOf } from "../deploy/page-commands.ts";
import { ownCluster } from "../deploy/own-cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { type Shell, shellOf } from "../fixtures/shell.ts";

const PAGE = "docs/approval.md";
const text = readFileSync(path.resolve(import.meta.dirname, "../..", PAGE), "utf8");

const follow = async (shell: Shell, command: string): Promise<void> => {
  const { code, stdout, stderr } = await shell(command);
  expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
};

/** What the page shows the API server say to this command. */
const said = (command: string): string => {
  const block = text.split(`$ ${command}\n`)[1]?.split("```")[0];
  if (block === undefined) throw new Error(`${PAGE} does not show ${command}`);
  return block.replaceAll(/\s+/gu, " ").trim();
};

const start = async (stampsUsers: boolean) => {
  const cluster = await ownCluster({ stampsUsers });
  onTestFinished(cluster.stop);
  const user = "system:serviceaccount:janus-system:janus-controller";
  const controller = controllerProcess([`--kubeconfig=${await cluster.userKubeconfig(user)}`, "--http-port=0"]);
  onTestFinished(async () => {
    controller.kill("SIGTERM");
    await controller.ended;
  });
  return { ...cluster, shell: shellOf(cluster) };
};

describe("docs/approval.md", () => {
  it("sets approval up in five commands", () => {
    expect(commandsOf(PAGE, "Set it up").join("").trim().split("\n")).toHaveLength(5);
  });

  it("its commands work, one after the other, and the author alone gets nowhere", async () => {
    const { shell, admin } = await start(true);
    const [accounts = "", propose = "", look = "", approve = "", ...more] = commandsOf(PAGE, "Propose and approve");
    expect(more).toEqual([]);
    for (const command of [...commandsOf(PAGE, "Set it up"), accounts]) await follow(shell, command);
    await follow(shell, propose);
    const command = `kubectl patch txn opening-hours -n bakery --type=merge -p '{"spec":{"lifecycle":"Published"}}' --as=alice`;
    const { code, stderr } = await shell(command);
    expect({ code, stderr: stderr.replaceAll(/\s+/gu, " ").trim() }).toEqual({ code: 1, stderr: said(command) });
    expect(await admin("get configmap -n bakery --ignore-not-found opening-hours")).toBe("");
    await follow(shell, look);
    await follow(shell, approve);
    expect(await admin("get configmap -n bakery opening-hours -o jsonpath={.data.sunday}")).toBe("closed");
    const names = JSON.parse(
      await admin("get txn -n bakery opening-hours -o jsonpath={.metadata.annotations}"),
    ) as object;
    expect(names).toMatchObject({
      "backup.janus.io/requested-by": "alice",
      "backup.janus.io/last-edited-by": "alice",
      "backup.janus.io/lifecycle-changed-by": "bob",
      "backup.janus.io/approved-by": "bob",
    });
  });

  it("its commands for clusters that do not stamp names work there", async () => {
    const { shell, admin } = await start(false);
    const [accounts = ""] = commandsOf(PAGE, "Propose and approve");
    for (const command of [...commandsOf(PAGE, "Set it up"), accounts, ...commandsOf(PAGE, "Without stamps")])
      await follow(shell, command);
    await admin("wait txn opening-hours -n bakery --for=condition=Committed --timeout=300s");
    expect(await admin("get configmap -n bakery opening-hours -o jsonpath={.data.sunday}")).toBe("closed");
  });
});
