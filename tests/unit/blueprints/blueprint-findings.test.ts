// Tests what is said of a Blueprint without a cluster: errors as the controller has them, and warnings of references.
import { blueprintFindings } from "@janus/blueprints/authoring";
import { expect, it } from "vitest";

const task = (name: string, ...command: readonly string[]) => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", ...command] },
});

const blueprint = (actions: object) => ({ apiVersion: "cr.kanister.io/v1alpha1", kind: "Blueprint", actions });

it("an error is what the controller refuses, in its words, after the name of the action", () => {
  const wrong = [
    { func: "KubeTsk", name: "one", args: {} },
    { func: "KubeTask", name: "two", args: { imgae: "x", command: ["{{ .Options.x }"] } },
    task("two", "echo {{ .Phases.later.Output.id }}"),
  ];
  const { errors } = blueprintFindings(blueprint({ backup: { phases: wrong } }));
  for (const problem of [
    'action backup: phase one: function "KubeTsk" does not exist; did you mean KubeTask?',
    "action backup: phase two: required arg missing: image",
    'action backup: phase two: argument "imgae" is not supported by KubeTask',
    'action backup: two phases are called "two"',
    'action backup: phase two: args.command[2]: no phase before it is called "later"',
  ])
    expect(errors).toContain(problem);
  expect(errors.join()).toContain("phase two: args.command[0]: template");
});

it("a Blueprint that is no Blueprint, and one without actions, are errors", () => {
  expect(blueprintFindings(blueprint({ backup: { phases: "all" } })).errors).not.toEqual([]);
  expect(blueprintFindings({}).errors).toEqual(["it has no actions"]);
  expect(blueprintFindings({ spec: { actions: {} } }).errors).toEqual([expect.stringContaining("at the top level")]);
});

const undeclared = (name: string, field: string) =>
  `"${name}" is not in ${field}: an ActionSet that does not give it fails only when this is rendered`;

it("a reference to an output, an artifact, a Secret or a ConfigMap that nothing gives is a warning", () => {
  const outputArtifacts = { dump: { keyValue: { id: "{{ .Phases.save.Output.id }}" } } };
  const backup = { outputArtifacts, phases: [task("save", "kando output ident x")] };
  const restore = {
    inputArtifactNames: ["dump"],
    phases: [
      task("load", "{{ .ArtifactsIn.dump.KeyValue.idd }} {{ .ArtifactsIn.other.KeyValue.id }}"),
      task("end", "{{ .Secrets.aws.Data.key | toString }} {{ .ConfigMaps.place.Data.path }}"),
    ],
  };
  expect(blueprintFindings(blueprint({ backup, restore }))).toEqual({
    errors: [],
    warnings: [
      'action backup: outputArtifacts.dump.keyValue.id: nothing in phase save writes the output "id"',
      'action restore: phase load: args.command[2]: no action gives artifact "dump" a "idd"',
      `action restore: phase load: args.command[2]: ${undeclared("other", "inputArtifactNames")}`,
      `action restore: phase end: args.command[2]: ${undeclared("aws", "secretNames")}`,
      `action restore: phase end: args.command[2]: ${undeclared("place", "configMapNames")}`,
    ],
  });
});

it("what a function outputs, a command writes, an ActionSet must give, and Secrets of phases are no warning", () => {
  const scale = { func: "ScaleWorkload", name: "stop", args: { replicas: 0 } };
  const phases = [
    scale,
    { ...task("save", "kando output id 1"), objects: { login: { kind: "Secret", name: "x", namespace: "y" } } },
    task("end", "{{ .Phases.stop.Output.originalReplicaCount }} {{ .Phases.save.Output.id }}"),
    task("last", "{{ .Phases.save.Secrets.login.Data.key | toString }} {{ .Secrets.aws.Name }}"),
  ];
  expect(blueprintFindings(blueprint({ backup: { secretNames: ["aws"], phases } }))).toEqual({
    errors: [],
    warnings: [],
  });
});
