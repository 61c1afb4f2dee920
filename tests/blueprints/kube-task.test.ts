// A recipe end to end: what a Blueprint with KubeTask does, what it is refused, and what is left of it.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { secret, within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { place } from "./world.ts";

/** Writes an output as `kando output` does. */
const kando = (key: string, value: string): string => `echo '###Phase-output###: {"key":"${key}","value":"${value}"}'`;

const task = (name: string, ...command: readonly string[]): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", ...command] },
});

describe("a recipe with outputs, an artifact and a deferPhase", () => {
  it("runs its phases in order, passes outputs on, shows artifacts in the end, and leaves nothing behind", async () => {
    const { create, over, names, namespace } = await place();
    await create(
      blueprint("dump", {
        backup: {
          outputArtifacts: { cloudObject: { keyValue: { id: "{{ .Phases.dump.Output.backupID }}" } } },
          phases: [
            task("dump", kando("backupID", "b-{{ .Object.data.greeting }}")),
            task("upload", kando("from", "{{ .Phases.dump.Output.backupID }}")),
          ],
          deferPhase: task("cleanUp", "true"),
        },
      }),
      actionSet("run", actionOn("backup", "dump")),
    );
    const { status } = await over("run");
    expect(status).toMatchObject({
      state: "complete",
      progress: { percentCompleted: "100", runningPhase: "" },
      actions: [
        {
          artifacts: { cloudObject: { keyValue: { id: "b-hello" } } },
          phases: [
            { name: "dump", state: "complete", output: { backupID: "b-hello" } },
            { name: "upload", state: "complete", output: { from: "b-hello" } },
          ],
          deferPhase: { name: "cleanUp", state: "complete" },
        },
      ],
    });
    expect(status.error).toBeUndefined();
    await expect.poll(() => names("v1", "Secret")).toEqual([]);
    await expect.poll(() => names("v1", "Pod")).toEqual([]);
    const told = async () => (await eventsOf(namespace, "run")).map(({ reason, message }) => `${reason}: ${message}`);
    await expect
      .poll(async () => (await told()).toSorted())
      .toEqual(
        [
          "Started Action: Executing action backup",
          "Started Phase: Executing phase dump",
          "Ended Phase: Completed phase dump",
          "Started Phase: Executing phase upload",
          "Ended Phase: Completed phase upload",
          "Started deferPhase: Executing deferPhase cleanUp",
          "Ended deferPhase: Completed deferPhase cleanUp",
          "Ended Action: Completed action backup",
          "Update Complete: Updated ActionSet 'run' Status->complete",
        ].toSorted(),
      );
  });

  it("fails with the exit code and the last lines, begins no further phase, and runs the deferPhase all the same", async () => {
    const { create, over } = await place();
    await create(
      blueprint("dump", {
        backup: {
          phases: [task("dump", "echo no space left; exit 3"), task("upload", "true")],
          deferPhase: task("cleanUp", "true"),
        },
      }),
      actionSet("run", actionOn("backup", "dump")),
    );
    const { status } = await over("run");
    expect(status).toMatchObject({
      state: "failed",
      actions: [{ phases: [{ state: "failed" }, { state: "pending" }], deferPhase: { state: "complete" } }],
    });
    expect(status.error?.message).toMatch(
      /^phase dump: Pod \S+\/kanister-job-\w{10}: container "container" exited with 3 \(Error\); last lines: no space left$/,
    );
  });
});

it("refuses before anything runs, with all that is wrong in one message", async () => {
  const { create, over, names, namespace } = await place();
  await create(
    blueprint("dump", {
      backup: {
        configMapNames: ["location"],
        inputArtifactNames: ["cloudObject"],
        phases: [
          { func: "KubeTsk", name: "one", args: {} },
          { func: "KubeTask", name: "two", args: { imgae: "x", command: ["{{ .Options.x }"] } },
        ],
      },
    }),
    actionSet("run", actionOn("backup", "dump"), actionOn("backp", "dump"), actionOn("backup", "other")),
  );
  const { status } = await over("run");
  expect(status.state).toBe("failed");
  const message = status.error?.message ?? "";
  for (const problem of [
    /^nothing was run: /,
    /function "KubeTsk" does not exist; did you mean KubeTask\?/,
    /phase two: required arg missing: image/,
    /phase two: argument "imgae" is not supported by KubeTask/,
    /phase two: args\.command\[0\]: template/,
    /ConfigMap "location" is required by action backup and not given/,
    /artifact "cloudObject" is required by action backup and not given/,
    new RegExp(`Blueprint ${namespace}/dump has no action "backp" \\(it has backup\\)`),
    new RegExp(`Blueprint ${namespace}/other not found`),
  ])
    expect(message).toMatch(problem);
  expect(await names("v1", "Pod")).toEqual([]);
  expect(await names("v1", "Secret")).toEqual([]);
});

it("acts as the ServiceAccount of the ActionSet: what that may not do is refused before anything runs", async () => {
  const { create, over, namespace } = await place();
  await administrator.create(
    within(namespace, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "nobody" } }),
  );
  await create(blueprint("dump", { backup: { phases: [task("dump", "true")] } }), {
    ...actionSet("run", actionOn("backup", "dump")),
    metadata: { name: "run", labels: { "janus.io/service-account": "nobody" } },
  });
  const { status } = await over("run");
  expect(status.error?.message).toContain(
    `ServiceAccount ${namespace}/nobody may not create pods in namespace ${namespace} (phase dump)`,
  );
});

it("shows no value of a Secret: the process gets it, and no object has it but Secrets", async () => {
  const hash = createHash("sha256").update("marked-4711").digest("hex");
  const { create, over, namespace } = await place();
  await create(
    secret("credentials", { password: "marked-4711" }),
    blueprint("dump", {
      backup: {
        secretNames: ["credentials"],
        phases: [
          task(
            "dump",
            `printf %s "{{ .Secrets.credentials.Data.password | toString }}" | sha256sum | grep -q ^${hash} && sleep 1 && ${kando("ok", "yes")}`,
          ),
        ],
      },
    }),
    actionSet("run", actionOn("backup", "dump", { secrets: { credentials: { name: "credentials", namespace: "" } } })),
  );
  await expect
    .poll(async () => (await administrator.list({ apiVersion: "v1", kind: "Pod" }, namespace)).length)
    .toBe(1);
  const [pod] = await administrator.list({ apiVersion: "v1", kind: "Pod" }, namespace);
  expect(JSON.stringify(pod)).not.toContain("4711");
  const run = await over("run");
  expect(run.status.actions[0]?.phases[0]?.output).toEqual({ ok: "yes" });
  expect(JSON.stringify(run)).not.toContain("4711");
  expect(JSON.stringify(await eventsOf(namespace, "run"))).not.toContain("4711");
});

it("is stopped by its deletion: its Pod goes, the deferPhase runs, and nothing is left", async () => {
  const { create, read, names, namespace } = await place();
  await create(
    blueprint("dump", {
      backup: { phases: [task("dump", "sleep 3600")], deferPhase: task("cleanUp", "true") },
    }),
    actionSet("run", actionOn("backup", "dump")),
  );
  await expect.poll(async () => (await read("run")).status?.progress.runningPhase).toBe("dump");
  await expect.poll(() => names("v1", "Pod")).toHaveLength(1);
  await administrator.remove(
    within(namespace, { apiVersion: "cr.kanister.io/v1alpha1", kind: "ActionSet", metadata: { name: "run" } }),
  );
  await expect.poll(() => names("cr.kanister.io/v1alpha1", "ActionSet")).toEqual([]);
  await expect.poll(() => names("v1", "Pod")).toEqual([]);
  const told = (await eventsOf(namespace, "run")).map(({ message }) => message);
  expect(told).toContain("Completed deferPhase cleanUp");
});

it("is deleted when its ttlSecondsAfterFinished has passed, by field or label; without one it is kept", async () => {
  const { create, over, names } = await place();
  const done = actionSet("kept", actionOn("do", "recipe"));
  await create(
    blueprint("recipe", { do: { phases: [task("only", "true")] } }),
    done,
    { ...done, metadata: { name: "field" }, spec: { ...(done["spec"] as object), ttlSecondsAfterFinished: 1 } },
    { ...done, metadata: { name: "label", labels: { "janus.io/ttl-seconds-after-finished": "1" } } },
  );
  await over("kept");
  await expect.poll(() => names("cr.kanister.io/v1alpha1", "ActionSet")).toEqual(["kept"]);
});
