// A namespace with the policy on Blueprints, and what it says of them.
import { BlueprintValidation, type Blueprints, render } from "@janus/deploy";
import type { JsonObject } from "@janus/types";
import { expect, onTestFinished } from "vitest";
import type { BlueprintPhase } from "../../packages/blueprints/src/api/blueprint.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { within } from "../fixtures/manifests.ts";
import { blueprint } from "./objects.ts";
import { prepared } from "./world.ts";

export const task = (name: string, args: JsonObject = {}): BlueprintPhase => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["true"], ...args },
});

/** What kubectl prints when they are created by dry run. */
export const created = (namespace: string, ...blueprints: readonly Manifest[]): Promise<Outcome> => {
  const items = blueprints.map((one) => within(namespace, one));
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  return kubectlWith({ stdin }, "create", "--dry-run=server", "-f", "-");
};

/** Why they are denied, by name. */
export const told = async (
  namespace: string,
  ...blueprints: readonly Manifest[]
): Promise<Readonly<Record<string, string>>> => {
  const { stderr } = await created(namespace, ...blueprints);
  return Object.fromEntries(
    Array.from(stderr.matchAll(/ "([^"]*)" is forbidden: .* denied request: (.*)$/gmu)).map(
      ([, name = "", problems = ""]) => [name, problems],
    ),
  );
};

export const probe = blueprint("probe", { probe: { phases: [{ func: "Probe", name: "only" }] } });

/** A namespace with a policy of its own: other tests of this control plane write Blueprints as they like. */
export const guarded = async (settings: Blueprints = {}, ...existing: readonly Manifest[]): Promise<string> => {
  const namespace = await prepared();
  for (const one of existing) await administrator.create(within(namespace, one));
  const policy = render(
    (chart) =>
      new BlueprintValidation(chart, "Validation", { blueprints: { ...settings, watchNamespaces: [namespace] } }),
  );
  const own = JSON.parse(JSON.stringify(policy).replaceAll("janus-blueprints-validation", namespace)) as Manifest[];
  onTestFinished(async () => void (await Promise.all(own.map((one) => administrator.remove(one)))));
  for (const one of own) await administrator.apply(one);
  const isUp = async (): Promise<boolean> => (await created(namespace, probe)).stderr.includes('function "Probe"');
  await expect.poll(isUp).toBe(true);
  return namespace;
};
