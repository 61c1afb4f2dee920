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

it("an argument that no phase would accept is told before anything runs, and so is a permission that templates name", async () => {
  const { create, over, namespace } = await place();
  const objectReference = {
    group: "apps",
    apiVersion: "v1",
    resource: "deployments",
    name: "web",
    namespace: "{{ .Options.where }}",
  };
  const condition = { condition: "{$.status}", objectReference };
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "runner" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
  };
  for (const manifest of [
    serviceAccount("runner"),
    role,
    roleBinding("runner", "Role", "runner", `${namespace}/runner`),
  ])
    await administrator.create(within(namespace, manifest));
  await create(
    blueprint("recipe", {
      do: {
        phases: [
          task("first", "true"),
          { func: "KubeOps", name: "ops", args: { operation: "remove" } },
          { func: "KubeOps", name: "yaml", args: { operation: "create", spec: "not yaml: [" } },
          {
            func: "ScaleWorkload",
            name: "scale",
            args: { replicas: "none", kind: "deployment", name: "web", namespace: "shop" },
          },
          {
            func: "Wait",
            name: "long",
            args: { timeout: "5 {{ .Options.unit }}", conditions: { allOf: [condition] } },
          },
          { func: "WaitV2", name: "typo", args: { timeout: "5m", conditions: { allOff: [] } } },
          { func: "Wait", name: "web", args: { timeout: "5m", conditions: { allOf: [condition] } } },
          { func: "DeleteData", name: "data", args: { namespace: "shop", backupArtifactPrefix: "a", backupID: "b" } },
        ],
      },
    }),
    {
      ...actionSet("run", actionOn("do", "recipe", { options: { where: "default", unit: "minutes" } })),
      metadata: { name: "run", labels: { "janus.io/service-account": "runner" } },
    },
  );
  const problems = ((await over("run")).status.error?.message ?? "").replace(/^nothing was run: /u, "").split("; ");
  expect(problems).toEqual(
    expect.arrayContaining([
      'phase ops: args.operation must be create, delete or patch, not "remove"',
      expect.stringMatching(/^phase yaml: args\.spec /u),
      "phase scale: args.replicas must be an integer",
      'phase long: args.timeout is no duration such as 5m: "5 minutes"',
      "phase typo: args.conditions needs anyOf or allOf",
      `ServiceAccount ${namespace}/runner may not get deployments in namespace default (phase web)`,
      "phase data: there is no Profile: name one in spec.actions[].profile of the ActionSet",
    ]),
  );
});
