import type { KubeObject } from "@janus/kube";
import type { Manifest } from "../fixtures/administrator.ts";
import { withoutGenerated } from "../../packages/controller/src/core/merge/job-selector.ts";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { customKinds, GROUP, type Kind } from "./kinds.ts";
import { lasting, owners, target } from "./target.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

let namespace = "";

/** A namespace for the tests of a file, and the kinds; to be called before them. */
export const openScene = async (): Promise<void> => {
  namespace = await freshNamespace();
  const list = { apiVersion: "v1", kind: "List", items: customKinds };
  await kubectlWith({ stdin: JSON.stringify(list) }, "apply", "--server-side", "-f", "-");
  await kubectl("wait", "--for=condition=Established", "crd", `plains.${GROUP}`, `splits.${GROUP}`);
};

/** An object in that namespace. */
export const manifest = (apiVersion: string, kind: string, name: string, fields: object = {}): Manifest => ({
  ...fields,
  apiVersion,
  kind,
  metadata: { name, namespace },
});

/** Applied by a GitOps tool, edited by a person. */
export const world = async ({ apiVersion, kind, applied, edited }: Kind, name: string) => {
  const object = await target(manifest(apiVersion, kind, name));
  await object.apply("gitops", applied);
  await object.edit("person", edited);
  return object;
};

const CONTROLLED: readonly string[] = ["Deployment", "StatefulSet", "PodDisruptionBudget", "Job"];

/** Of what controllers write there is nothing to be said, nor of what the API server makes of an object's uid. */
export const compared = (kind: string, object: KubeObject) => {
  if (!CONTROLLED.includes(kind)) return lasting(object);
  const { annotations: _, ...metadata } = object.metadata;
  return lasting({ ...withoutGenerated(object), status: {}, metadata: { ...metadata, managedFields: owners(object) } });
};
