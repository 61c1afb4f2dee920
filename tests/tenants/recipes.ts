// The neighbours of ActionSets: authors of Blueprints, and a bystander whose recipe makes an object, waits for it and deletes it.
import { actionSets, blueprints } from "@janus/blueprints";
import { installation } from "@janus/deploy";
import { deployer } from "../load/world.ts";
import { bystander, type Bystander } from "./bystander.ts";
import { tenant, type Tenant } from "./tenant.ts";
import type { Subject, TestBed } from "./test-bed.ts";

export interface Author extends Tenant {
  /** Creates a Blueprint whose action `run` has these phases. */
  readonly recipe: (name: string, phases: readonly object[], more?: object) => Promise<unknown>;
  /** Creates an ActionSet with so many of its actions. */
  readonly run: (name: string, recipe: string, actions?: number, metadata?: object) => Promise<unknown>;
}

export const author = async (testBed: TestBed, namespace: string): Promise<Author> => {
  const user = await tenant(testBed, namespace, actionSets, [blueprints, actionSets]);
  const object = { kind: "namespace", name: namespace };
  return {
    ...user,
    recipe: (name, phases, more = {}) =>
      user.create(blueprints, { metadata: { name }, actions: { run: { ...more, phases } } }),
    run: (name, blueprint, actions = 1, metadata = {}) =>
      user.create(actionSets, {
        metadata: { ...metadata, name },
        spec: { actions: Array.from({ length: actions }, () => ({ name: "run", blueprint, object })) },
      }),
  };
};

export const kubeOps = (name: string, args: object): object => ({ func: "KubeOps", name, args });

/** A phase that makes a ConfigMap, of a name that comes from a template. */
export const makes = (name: string, data: string): object =>
  kubeOps(name, {
    operation: "create",
    namespace: "{{ .Object.metadata.name }}",
    spec: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: made-\ndata:\n  text: "${data}"\n`,
  });

export const somebody = async (testBed: TestBed): Promise<Bystander> => {
  const user = await author(testBed, "bystander");
  const name = `{{ .Options.name }}`;
  const namespace = "{{ .Object.metadata.name }}";
  const objectReference = { apiVersion: "v1", resource: "configmaps", name, namespace };
  await user.recipe("errand", [
    kubeOps("make", {
      operation: "create",
      namespace,
      spec: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ready: "yes"\n`,
    }),
    {
      func: "Wait",
      name: "wait",
      args: {
        timeout: "60s",
        conditions: { allOf: [{ condition: '{{ if eq "{$.data.ready}" "yes" }}true{{ end }}', objectReference }] },
      },
    },
    kubeOps("remove", { operation: "delete", objectReference }),
  ]);
  return bystander(testBed.api, user, {
    resource: actionSets,
    submit: (name) =>
      user.create(actionSets, {
        metadata: { name },
        spec: {
          actions: [
            {
              name: "run",
              blueprint: "errand",
              object: { kind: "namespace", name: user.namespace },
              options: { name },
            },
          ],
        },
      }),
    endOf: (object) => {
      const { state } = (object["status"] ?? {}) as { readonly state?: string };
      return state === "complete" || state === "failed" ? state : undefined;
    },
    ends: "complete",
  });
};

export const subject: Subject = {
  product: {
    // Without the policy that refuses what is wrong when it is written: the controller has to bear it, too.
    manifests: installation({ blueprints: { defaultServiceAccount: deployer, validation: "Off" } }),
    user: "system:serviceaccount:janus-system:janus-blueprints",
  },
  flags: ["--blueprints", "--write-timeout=3s", `--default-service-account=${deployer}`],
  lease: "janus-blueprints-leader",
};
