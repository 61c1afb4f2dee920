// Bare Pods: the least that anybody needs who runs a command in a Pod. They are created, awaited and deleted.
import type { KubeObject } from "@janus/kube";
import { pods } from "@janus/types";
import { create, must } from "../../load/world.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";

export const COMMAND = ["true"];

const isOver = (pod: KubeObject): boolean =>
  (pod["status"] as { readonly phase?: string } | undefined)?.phase === "Succeeded";

export const runBarePod = async ({ api, pods: seen }: Cluster, name: string): Promise<void> => {
  const spec = { restartPolicy: "Never", containers: [{ name: "container", image: "busybox", command: COMMAND }] };
  await create(api, pods, NAMESPACE, { metadata: { name }, spec });
  await seen.when(name, isOver);
  must(await api.send({ verb: "delete", resource: pods, namespace: NAMESPACE, name }));
};
