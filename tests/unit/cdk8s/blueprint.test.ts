// Tests the constructs of Blueprints, ActionSets and Profiles: what they print, and what the synthesis refuses.
import { ActionSet, type ActionProps, Artifact, Blueprint, functions, type PhaseProps, Profile } from "@janus/cdk8s";
import { Chart, Testing } from "cdk8s";
import { ConfigMap, Deployment } from "cdk8s-plus-30";
import { expect, expectTypeOf, it } from "vitest";

const { KubeTask, ScaleWorkload } = functions;

const chart = () => new Chart(Testing.app(), "shop", { namespace: "shop" });
const dump = KubeTask({ name: "dump", args: { image: "tools", command: ["kando", "output", "id", "x"] } });
const copy = new Artifact("copy", { id: dump.output("id") });
const load = KubeTask({ name: "load", args: { image: "tools", command: ["load", `s3://${copy.value("id")}`] } });
const recipes = (scope: Chart) =>
  new Blueprint(scope, "Recipes", {
    metadata: { name: "recipes" },
    actions: {
      backup: { kind: "Deployment", phases: [dump], outputArtifacts: [copy] },
      restore: { atomic: true, phases: [load], inputArtifacts: [copy], secretNames: ["key"] },
    },
  });
const synthesis = (scope: Chart) => () => Testing.synth(scope);

it("prints a Blueprint with references as templates", () => {
  const scope = chart();
  recipes(scope);
  expect(Testing.synth(scope)).toEqual([
    {
      apiVersion: "cr.kanister.io/v1alpha1",
      kind: "Blueprint",
      metadata: { name: "recipes", namespace: "shop" },
      actions: {
        backup: {
          kind: "Deployment",
          outputArtifacts: { copy: { keyValue: { id: "{{ .Phases.dump.Output.id }}" } } },
          phases: [
            { func: "KubeTask", name: "dump", args: { image: "tools", command: ["kando", "output", "id", "x"] } },
          ],
        },
        restore: {
          atomic: true,
          inputArtifactNames: ["copy"],
          secretNames: ["key"],
          phases: [
            {
              func: "KubeTask",
              name: "load",
              args: { image: "tools", command: ["load", "s3://{{ .ArtifactsIn.copy.KeyValue.id }}"] },
            },
          ],
        },
      },
    },
  ]);
});

it("names of phases and artifacts that are no identifiers are looked up", () => {
  const phase = ScaleWorkload({ name: "scale-down", args: { replicas: 0 } });
  expect(phase.output("originalReplicaCount")).toBe('{{ (index .Phases "scale-down").Output.originalReplicaCount }}');
  expect(new Artifact("a-b", { id: "x" }).value("id")).toBe('{{ (index .ArtifactsIn "a-b").KeyValue.id }}');
});

it("what the controller refuses of a Blueprint is an error of the synthesis", () => {
  const scope = chart();
  new Blueprint(scope, "Recipes", { actions: { restore: { phases: [load, dump, dump] }, check: { phases: [load] } } });
  expect(synthesis(scope)).toThrow('two phases are called "dump"');
  const other = chart();
  const late = KubeTask({ name: "late", args: { image: "tools", command: ["echo", dump.output("id")] } });
  new Blueprint(other, "Recipes", { actions: { restore: { phases: [late, dump] } } });
  expect(synthesis(other)).toThrow('phase late: args.command[1]: no phase before it is called "dump"');
});

const running = (more: Partial<ActionProps>, scope: Chart = chart()) => {
  const object = new Deployment(scope, "Web", { metadata: { name: "web" }, containers: [{ image: "web" }] });
  const action: ActionProps = { name: "backup", blueprint: recipes(scope), object, ...more };
  new ActionSet(scope, "Run", { metadata: { name: "run" }, serviceAccount: "ops", actions: [action] });
  return scope;
};

it("prints an ActionSet after its Blueprint, with the object and the Profile as Kanister names them", () => {
  const scope = chart();
  const profile = new Profile(scope, "Store", {
    metadata: { name: "s3" },
    location: { type: "s3Compliant", bucket: "backups" },
    credential: { type: "keyPair", keyPair: { idField: "id", secretField: "key", secret: { name: "s3" } } },
  });
  const printed = Testing.synth(running({ profile }, scope));
  expect(printed.at(-1)).toEqual({
    apiVersion: "cr.kanister.io/v1alpha1",
    kind: "ActionSet",
    metadata: { name: "run", namespace: "shop" },
    spec: {
      serviceAccountName: "ops",
      actions: [
        {
          name: "backup",
          blueprint: "recipes",
          object: { kind: "deployment", name: "web", namespace: "shop" },
          profile: { name: "s3", namespace: "shop" },
        },
      ],
    },
  });
});

it("an action that there is not, or that is not given what it needs, is an error of the synthesis", () => {
  expect(synthesis(running({ name: "backp" }))).toThrow(
    'Blueprint recipes has no action "backp" (it has backup, restore)',
  );
  expect(synthesis(running({ name: "restore" }))).toThrow('artifact "copy" is required by action restore');
  expect(synthesis(running({ name: "restore" }))).toThrow('Secret "key" is required by action restore');
  const scope = chart();
  const map = new ConfigMap(scope, "Map");
  expect(synthesis(running({ object: map }, scope))).toThrow("is a ConfigMap: name it with apiVersion and resource");
});

it("a Profile without a bucket is an error of the synthesis", () => {
  const scope = chart();
  new Profile(scope, "Store", {
    location: { type: "s3Compliant" },
    credential: { type: "secret", secret: { name: "s3" } },
  });
  expect(synthesis(scope)).toThrow("location.bucket is missing");
});

it("does not compile with an argument that a function does not know, or without one that it needs", () => {
  type Args = PhaseProps<"KubeTask">["args"];
  expectTypeOf<{ image: string; command: string[] }>().toExtend<Args>();
  expectTypeOf<{ image: string }>().not.toExtend<Args>();
  expectTypeOf<"podLabels">().toExtend<keyof Args>();
  expectTypeOf<"imgae">().not.toExtend<keyof Args>();
  expectTypeOf<Parameters<typeof copy.value>[0]>().toEqualTypeOf<"id">();
});
