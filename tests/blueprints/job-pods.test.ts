// Pods with volumes and with several containers: PrepareData and MultiContainerRun on the test node.
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { secret } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { place } from "./world.ts";

const kando = (key: string, value: string): string =>
  `echo "###Phase-output###: {\\"key\\":\\"${key}\\",\\"value\\":\\"${value}\\"}"`;

const claim = (name: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

const prepare = (name: string, namespace: string, script: string, more: object = {}): object => ({
  func: "PrepareData",
  name,
  args: { namespace, image: "busybox", command: ["sh", "-c", script], volumes: { data: "/data" }, ...more },
});

it("PrepareData has volumes of claims; a command that fails is as good as another, but with failOnError", async () => {
  const { create, over, namespace } = await place();
  await create(
    claim("data"),
    blueprint("recipe", {
      do: {
        phases: [
          prepare("write", namespace, `echo kept > /data/file; ${kando("ok", "yes")}; exit 3`),
          prepare("read", namespace, `read word < /data/file; ${kando("word", "$word")}`, { failOnError: true }),
          prepare("fail", namespace, "exit 4", { failOnError: "true" }),
        ],
      },
      absent: { phases: [prepare("absent", namespace, "true", { volumes: { other: "/data" } })] },
      none: { phases: [prepare("none", namespace, "true", { volumes: {} })] },
    }),
    ...["do", "absent", "none"].map((action) => actionSet(action, actionOn(action, "recipe"))),
  );
  const { status } = await over("do");
  expect(status.actions[0]?.phases).toMatchObject([
    { state: "complete", output: { ok: "yes" } },
    { state: "complete", output: { word: "kept" } },
    { state: "failed" },
  ]);
  expect(status.error?.message).toMatch(
    /^phase fail: Pod \S+\/prepare-data-job-\w+: container "container" exited with 4/,
  );
  expect((await over("absent")).status.error?.message).toBe(
    `phase absent: PersistentVolumeClaim ${namespace}/other not found`,
  );
  expect((await over("none")).status.error?.message).toMatch(/^nothing was run: phase none: there are no volumes: /);
});

it("MultiContainerRun runs init, then background and output, which share a volume, and has the outputs of one", async () => {
  const { create, over, namespace } = await place();
  const multi = (name: string, output: string, more: object = {}): object => ({
    func: "MultiContainerRun",
    name,
    args: {
      initImage: "busybox",
      initCommand: ["sh", "-c", "mkfifo /shared/pipe"],
      backgroundImage: "busybox",
      backgroundCommand: ["sh", "-c", `${kando("from", "background")}; echo "$0" > /shared/pipe`, "word"],
      outputImage: "busybox",
      outputCommand: ["sh", "-c", output],
      sharedVolumeDir: "/shared",
      ...more,
    },
  });
  const password = "{{ .Secrets.credentials.Data.password | toString }}";
  await create(
    secret("credentials", { password: "marked-4711" }),
    blueprint("recipe", {
      do: {
        secretNames: ["credentials"],
        phases: [
          multi("pipe", `read word < /shared/pipe; ${kando("word", "$word")}`),
          multi("secret", `test "$(cat /shared/pipe)" = "$0" && ${kando("ok", "yes")}`, {
            backgroundCommand: ["sh", "-c", 'echo "$0" > /shared/pipe', password],
            outputCommand: [
              "sh",
              "-c",
              `test "$(cat /shared/pipe)" = "$0" && sleep 1 && ${kando("ok", "yes")}`,
              password,
            ],
          }),
          multi("fail", "true", { initCommand: ["sh", "-c", "exit 5"] }),
        ],
      },
    }),
    actionSet("run", actionOn("do", "recipe", { secrets: { credentials: { name: "credentials", namespace: "" } } })),
  );
  let pods = "";
  await expect
    .poll(async () => {
      pods = JSON.stringify(await administrator.list({ apiVersion: "v1", kind: "Pod" }, namespace));
      return pods;
    })
    .toContain("JANUS_ARG_1");
  expect(pods).not.toContain("4711");
  const { status } = await over("run");
  expect(status.actions[0]?.phases).toMatchObject([
    { state: "complete", output: { word: "word" } },
    { state: "complete", output: { ok: "yes" } },
    { state: "failed" },
  ]);
  expect(status.actions[0]?.phases[0]?.output).toEqual({ word: "word" });
  expect(status.error?.message).toMatch(/^phase fail: Pod \S+: container "init" exited with 5 \(Error\)$/);
});
