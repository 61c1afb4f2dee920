// The commands for Blueprints and ActionSets that need no controller: what they print, and their exit codes.
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, actionSetRef } from "../blueprints/objects.ts";
import { prepared } from "../blueprints/world.ts";
import { janus, janusWith } from "./command-line.ts";

it("abandons one that was running under another controller, and none that has ended", async () => {
  const namespace = await prepared();
  const where = ["-n", namespace];
  const old = { ...actionSet("old", actionOn("backup", "dump")), status: { state: "running" } };
  await administrator.create(within(namespace, old));
  expect((await janus("actionset", "explain", "old", ...where)).stdout).toContain("actionset abandon old");
  expect((await janus("actionset", "abandon", "old", ...where)).code).toBe(0);
  expect(await administrator.read(within(namespace, old))).toMatchObject({ status: { state: "failed" } });
  expect(await janus("actionset", "abandon", "old", ...where)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("it has ended: it is failed"),
  });
});

it("prints an ActionSet as kanctl writes it, and creates nothing", async () => {
  const namespace = await prepared();
  const flags = ["--object", "deployment/web", "--secret", "aws=other/creds", "--dry-run", "--name", "b", "-o", "json"];
  const { stdout } = await janus("run", "pg", "backup", ...flags, "-n", namespace);
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: "cr.kanister.io/v1alpha1",
    kind: "ActionSet",
    metadata: { name: "b", namespace },
    spec: {
      actions: [
        {
          name: "backup",
          blueprint: "pg",
          object: { kind: "deployment", name: "web", namespace },
          secrets: { aws: { name: "creds", namespace: "other" } },
        },
      ],
    },
  });
  expect(await administrator.read(within(namespace, actionSetRef("b")))).toBeUndefined();
});

const blueprint = (func: string): string =>
  JSON.stringify({
    apiVersion: "cr.kanister.io/v1alpha1",
    kind: "Blueprint",
    metadata: { name: "pg" },
    actions: {
      backup: {
        phases: ["dump", "push"].map((name) => ({
          func,
          name,
          args: { image: "x", command: ["{{ .Options.mode }}"] },
        })),
      },
    },
  });

it("checks and renders a Blueprint, and prints its permissions, without a cluster", async () => {
  const [valid, wrong, permissions, rendered] = await Promise.all([
    janusWith(blueprint("KubeTask"), "blueprint", "validate", "-"),
    janusWith(blueprint("KubeTsk"), "blueprint", "validate", "-"),
    janusWith(blueprint("KubeTask"), "blueprint", "permissions", "-", "-n", "shop"),
    janusWith(blueprint("KubeTask"), "blueprint", "render", "-", "--action", "backup"),
  ]);
  expect(valid).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Blueprint pg \(standard input, .*: valid\n$/u),
  });
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('"KubeTsk" does not exist; did you mean') });
  expect(permissions).toMatchObject({ code: 0, stdout: expect.stringContaining("  - pods/log\n") });
  const problem = 'args.command[0]: Failed to render template: "mode" not found: {{ .Options.mode }}';
  expect(rendered).toMatchObject({ code: 1, stderr: `error: phase dump: ${problem}\nphase push: ${problem}\n` });
});
