// Tests what templates name: what cannot be there is told before anything runs, and so is a Secret that may not be made.
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { roleBinding, secret, serviceAccount, within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { place } from "./world.ts";

const task = (name: string, script: string): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", script] },
});

it("all that templates read in any case and that is not there is told before anything runs", async () => {
  const { create, over, names } = await place();
  await create(
    blueprint("recipe", {
      do: {
        phases: [
          task("first", "echo {{ .Options.nope }} {{ .ConfigMaps.subject.Data.greeting }}"),
          task("second", "{{ if .Phases.first.Output }}{{ .Options.never }}{{ end }}{{ .Deployment.Name }}"),
        ],
        deferPhase: task("last", "{{ .Object.data.farewell }}"),
        outputArtifacts: { dump: { keyValue: { id: "{{ .ArtifactsIn.old.KeyValue.id }}" } } },
      },
    }),
    actionSet("run", actionOn("do", "recipe", { configMaps: { subject: { name: "subject", namespace: "" } } })),
  );
  const message = (await over("run")).status.error?.message ?? "";
  expect(
    message
      .replace(/^nothing was run: /u, "")
      .split("; phase ")
      .flatMap((one) => one.split("; outputArtifacts")),
  ).toEqual([
    'phase first: args.command[2]: Failed to render template: "nope" not found: {{ .Options.nope }}',
    expect.stringMatching(/^second: args\.command\[2\]: Failed to render template: .*Name/u),
    'last: args.command[2]: Failed to render template: "farewell" not found: {{ .Object.data.farewell }}',
    '.dump.keyValue.id: Failed to render template: "old" not found: {{ .ArtifactsIn.old.KeyValue.id }}',
  ]);
  expect(await names("v1", "Pod")).toEqual([]);
});

it("they are told together with all else that is wrong", async () => {
  const { create, over, namespace } = await place();
  await create(
    blueprint("recipe", {
      do: { phases: [task("first", "echo {{ .Options.nope }}"), { func: "KubeTsk", name: "second" }] },
    }),
    actionSet("run", actionOn("do", "recipe"), actionOn("do", "other")),
  );
  expect((await over("run")).status.error?.message).toBe(
    [
      'nothing was run: phase second: function "KubeTsk" does not exist; did you mean KubeTask?',
      'phase first: args.command[2]: Failed to render template: "nope" not found: {{ .Options.nope }}',
      `Blueprint ${namespace}/other not found`,
    ].join("; "),
  );
});

/** Of an action that is given a Secret, as `runner`. */
const run = (name: string, action: string): ReturnType<typeof actionSet> => ({
  ...actionSet(name, actionOn(action, "recipe", { secrets: { s: { name: "s", namespace: "" } } })),
  metadata: { name, labels: { "janus.io/service-account": "runner" } },
});

it("the right to create Secrets is asked for before anything runs where a command depends on one, and only there", async () => {
  const { create, over, namespace } = await place();
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "runner" },
    rules: [
      { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "patch", "delete"] },
      { apiGroups: [""], resources: ["pods/log", "secrets", "configmaps"], verbs: ["get"] },
    ],
  };
  for (const manifest of [
    serviceAccount("runner"),
    role,
    roleBinding("runner", "Role", "runner", `${namespace}/runner`),
  ])
    await administrator.create(within(namespace, manifest));
  await create(
    secret("s", { password: "x" }),
    blueprint("recipe", {
      names: { phases: [task("only", "test {{ .Secrets.s.Name }} = s")] },
      values: { phases: [task("before", "true"), task("only", "true {{ .Secrets.s.Data.password | toString }}")] },
    }),
    run("names", "names"),
    run("values", "values"),
  );
  expect((await over("names")).status.state).toBe("complete");
  expect((await over("values")).status.error?.message).toBe(
    `nothing was run: ServiceAccount ${namespace}/runner may not create secrets in namespace ${namespace} (phase only)`,
  );
});
