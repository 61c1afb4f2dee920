// Tests how an action is rendered from values, without a cluster.
import { renderedAction, valuesOf } from "@janus/blueprints/authoring";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";

const task = (name: string, ...command: readonly string[]) => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command },
});
const at = { namespace: "shop", time: "2026-01-01T00:00:00Z" };
const values = (value: object) => {
  const read = valuesOf(value);
  if (E.isLeft(read)) throw new Error(read.left);
  return read.right;
};

const args = (...command: readonly string[]) => E.right({ image: "busybox", command });
const secret = (name: string, namespace: string | undefined, stringData: object) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  stringData,
});

it("each phase sees the outputs of those before it, and the artifacts those of all", () => {
  const action = {
    outputArtifacts: { dump: { keyValue: { id: "{{ .Phases.save.Output.id }}" } } },
    phases: [
      task("save", "{{ .Deployment.Namespace }}/{{ .Deployment.Name }}", "{{ .Options.mode }}"),
      task("upload", "{{ .Phases.save.Output.id }}", "{{ .Time }}"),
    ],
    deferPhase: task("end", "{{ .Phases.upload.Output.url }}"),
  };
  const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } };
  const given = values({
    object,
    options: { mode: "full" },
    outputs: { save: { id: "b-1" }, upload: { url: "s3://b" } },
  });
  const { phases, artifacts } = renderedAction("backup", action, given, at);
  expect(phases).toEqual([
    { name: "save", func: "KubeTask", args: args("shop/web", "full") },
    { name: "upload", func: "KubeTask", args: args("b-1", at.time) },
    { name: "end", func: "KubeTask", args: args("s3://b") },
  ]);
  expect(artifacts).toEqual(E.right({ dump: { keyValue: { id: "b-1" } } }));
});

it("a value of a Secret is not shown, wherever a template takes it from", () => {
  const phases = [
    {
      ...task("save", "{{ .Secrets.aws.Data.key | toString }}", "{{ .Phases.save.Secrets.login.Data.key | toString }}"),
      objects: { login: { kind: "Secret", name: "login", namespace: "other" } },
    },
    task("load", "{{ .Profile.Credential.KeyPair.Secret }}", "{{ .Profile.Location.Bucket }}"),
  ];
  const profile = {
    apiVersion: "cr.kanister.io/v1alpha1",
    kind: "Profile",
    metadata: { name: "s3" },
    location: { bucket: "backups" },
    credential: { type: "keyPair", keyPair: { idField: "id", secretField: "key", secret: { name: "pair" } } },
  };
  const given = values({
    secrets: { aws: secret("creds", undefined, { key: "hidden-1" }) },
    profile,
    objects: [secret("login", "other", { key: "hidden-2" }), secret("pair", undefined, { id: "a", key: "hidden-3" })],
  });
  const rendered = renderedAction("backup", { phases }, given, at);
  expect(rendered.phases.map(({ args }) => args)).toEqual([
    E.right({ image: "busybox", command: ["***", "***"] }),
    E.right({ image: "busybox", command: ["***", "backups"] }),
  ]);
  expect(JSON.stringify(rendered)).not.toContain("hidden");
});

it("what is not among the values fails in the words of the controller, phase by phase", () => {
  const phases = [task("save", "{{ .Phases.first.Output.id }}"), task("load", "{{ .Options.mode }}")];
  const rendered = renderedAction("backup", { phases: [task("first", "true"), ...phases] }, values({}), at);
  expect(rendered.phases.map(({ args }) => args)).toEqual([
    E.right({ image: "busybox", command: ["true"] }),
    E.left('phase save: args.command[0]: Failed to render template: "id" not found: {{ .Phases.first.Output.id }}'),
    E.left('phase load: args.command[0]: Failed to render template: "mode" not found: {{ .Options.mode }}'),
  ]);
});

it("what no phase can read is said in the same words for all", () => {
  const profile = { metadata: { name: "s3" }, credential: { type: "keyPair", keyPair: { secret: { name: "key" } } } };
  const phases = [task("save", "true"), task("load", "true")];
  const rendered = renderedAction("backup", { phases }, values({ profile }), at);
  expect(rendered.phases.map(({ args }) => args)).toEqual([
    E.left("Secret shop/key not found"),
    E.left("Secret shop/key not found"),
  ]);
});

it("values with a name that there is not, or that are no manifests, are refused", () => {
  expect(valuesOf({ option: {} })).toMatchObject(E.left(expect.stringContaining('"option" is not a value: there is ')));
  expect(valuesOf({ secrets: { aws: { data: {} } } })).toEqual(E.left("aws must be a manifest, with metadata.name"));
});
