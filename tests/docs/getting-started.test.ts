import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { commandsOf } from "../deploy/page-commands.ts";
import { ownCluster } from "../deploy/own-cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { shellOf } from "../fixtures/shell.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const PAGE = "docs/getting-started.md";

/** The sections with commands, in the order of the page. */
const sections = readFileSync(path.join(repository, PAGE), "utf8")
  .split(/\n(?=##+ )/)
  .filter((section) => section.includes("\n```sh\n"))
  .map((section) => section.split("\n", 1)[0]?.replace(/^#+ /, "") ?? "");

it("every command of docs/getting-started.md works, one after the other", { timeout: 180_000 }, async () => {
  const cluster = await ownCluster();
  onTestFinished(cluster.stop);
  const user = "system:serviceaccount:janus-system:janus-controller";
  const controller = controllerProcess([`--kubeconfig=${await cluster.userKubeconfig(user)}`, "--http-port=0"]);
  onTestFinished(async () => {
    controller.kill("SIGTERM");
    await controller.ended;
  });
  const shell = shellOf(cluster);
  const printed = new Map<string, string>();
  for (const section of sections)
    for (const command of commandsOf(PAGE, section)) {
      const { code, stdout, stderr } = await shell(command);
      expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
      printed.set(section, `${printed.get(section) ?? ""}${stdout}`);
    }
  expect(printed.get("Apply a Transaction")).toMatch(/^deploy-v2 +Committed +3\/3 +all 3 changes are applied /mu);
  expect(printed.get("See a rollback")).toContain("exceeded quota");
  expect(printed.get("See a rollback")).toMatch(/^2\.0$/mu);
  expect(printed.get("What a Transaction leaves")).toContain('"version":"2.0"');
  expect(printed.get("Roll back a Committed Transaction")).toMatch(
    /^deploy-v4 +RolledBack +0\/1 +every target is as it/mu,
  );
  expect(printed.get("Conditions")).toBe("RollbackComplete\n");
});
