import { spawnSync } from "node:child_process";
import path from "node:path";
import { installation, yaml } from "@janus/deploy";
import { expect, it } from "vitest";

const main = path.resolve(import.meta.dirname, "../../../packages/deploy/src/manifests.ts");
const run = (...flags: readonly string[]) =>
  spawnSync(process.execPath, ["--conditions=source", main, ...flags], { encoding: "utf8" });

it("prints what its flags ask for", () => {
  const flags = [
    "--image=registry.example/janus:1",
    "--namespace=elsewhere",
    "--readiness=leader",
    "--metrics-auth",
    "--stamp-requester",
    "--monitoring",
  ];
  const props = {
    image: "registry.example/janus:1",
    namespace: "elsewhere",
    readiness: "leader",
    metricsAuth: true,
    stampsRequester: true,
    monitoring: true,
  } as const;
  expect(run(...flags).stdout).toBe(yaml(installation(props)));
  expect(run().stdout).toBe(yaml(installation()));
});

it("has no flag that its help leaves out", () => {
  const { stdout } = run("--help");
  const named = [...stdout.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, flag]) => flag);
  expect(named).toEqual(["image", "namespace", "readiness", "metrics-auth", "stamp-requester", "monitoring", "help"]);
});

it.each([["--colour"], ["--readiness=all"]])("refuses %s, and prints nothing to apply", (flag) => {
  expect(run(flag)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining("see --help") });
});
