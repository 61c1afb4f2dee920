import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { directory } from "../cli/command-line.ts";
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

const TOUR = readFileSync(path.join(repository, "docs/cli.md"), "utf8")
  .split("\n## A tour in ten minutes\n")[1]
  ?.split("\n### Manifests instead of a Transaction\n")[0];

/** What the tour types before it needs a terminal, and which exit code it shows, if any. */
const tour = [...(TOUR ?? "").matchAll(/^```console\n(.*?)^```$/gms)]
  .flatMap(([, block = ""]) => block.split(/^\$ /mu).slice(1))
  .map((typed) => {
    const [command = "", ...shown] = typed.split("\n");
    return { command, exit: /^exit code (\d+)$/mu.exec(shown.join("\n"))?.[1] };
  });

it("every command of docs/getting-started.md works, and the tour of docs/cli.md after it", async () => {
  const cluster = await ownCluster();
  onTestFinished(cluster.stop);
  const user = "system:serviceaccount:janus-system:janus-controller";
  const controller = controllerProcess([`--kubeconfig=${await cluster.userKubeconfig(user)}`, "--http-port=0"]);
  onTestFinished(async () => {
    controller.kill("SIGTERM");
    await controller.ended;
  });
  const shell = shellOf(cluster, { path: [directory] });
  const printed = new Map<string, string>();
  for (const section of sections)
    for (const command of commandsOf(PAGE, section)) {
      const { code, stdout, stderr } = await shell(command);
      expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
      printed.set(section, `${printed.get(section) ?? ""}${stdout}`);
    }
  expect(printed.get("Apply a Transaction")).toMatch(/^deploy-v2 +Committed +3\/3 +Published /mu);
  expect(printed.get("See a rollback")).toContain("exceeded quota");
  expect(printed.get("See a rollback")).toMatch(/^2\.0$/mu);
  expect(printed.get("What a Transaction leaves")).toContain('"version":"2.0"');
  expect(printed.get("Roll back a Committed Transaction")).toMatch(/^deploy-v4 +RolledBack +0\/1 +Published /mu);
  expect(printed.get("Conditions")).toBe("RollbackComplete\n");

  expect(tour.map(({ command }) => command).join("\n")).toContain("kubectl janus snapshot diff");
  for (const { command, exit } of tour) {
    const { code, stdout, stderr } = await shell(`set +e; ${command}`);
    // doctor looks for the Deployment, plan says that something would change.
    const expected = /janus (?:doctor|plan)/u.test(command) ? 1 : 0;
    expect(code, `${command}\n${stdout}\n${stderr}`).toBe(expected);
    expect(stdout, `${command}\n${stderr}`).toMatch(
      exit === undefined ? /^/u : new RegExp(`^exit code ${exit}$`, "mu"),
    );
  }
});
