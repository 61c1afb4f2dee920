// A recipe for the suites of crashes and wrong answers: scales down, creates, patches and deletes objects, waits, scales up again.
import type { Subject } from "../crash/any-controller.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import type { RunningNode } from "../fixtures/node/start-node.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { controllerOf, isOver, nodeFor, prepared } from "./world.ts";

const nodes = new Map<string, RunningNode>();

const web: Manifest = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "web", image: "busybox" }] },
    },
  },
};

const recipe = (namespace: string) => {
  const ref = (name: string): object => ({ apiVersion: "v1", resource: "configmaps", name, namespace });
  const ops = (name: string, args: object): object => ({ func: "KubeOps", name, args: { namespace, ...args } });
  const scale = (name: string, replicas: string): object => ({
    func: "ScaleWorkload",
    name,
    args: { namespace, name: "web", kind: "Deployment", replicas },
  });
  return blueprint("scale", {
    backup: {
      phases: [
        scale("down", "0"),
        ops("make", { operation: "create", spec: "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}" }),
        ops("label", {
          operation: "patch",
          objectReference: ref("made"),
          spec: "{data: {asked: 'yes'}, metadata: {labels: {patched: by-us}}}",
        }),
        {
          func: "Wait",
          name: "wait",
          args: {
            timeout: "60s",
            conditions: { allOf: [{ condition: "{ $.data.answered }", objectReference: ref("made") }] },
          },
        },
        ops("drop", { operation: "delete", objectReference: ref("dropped") }),
        scale("up", "{{ .Phases.down.Output.originalReplicaCount }}"),
      ],
    },
  });
};

type ConfigMap = Manifest & { readonly data?: Readonly<Record<string, string>> };

/** Of the one that the recipe deletes, when somebody has made another one in its place. */
const AGAIN = { again: "true" };

/** Somebody else: answers what is asked, and makes anew what is deleted, which then has to stay. */
const somebody = async (namespace: string): Promise<readonly (ConfigMap | undefined)[]> => {
  const [made, dropped] = await Promise.all(
    ["made", "dropped"].map(
      async (name) =>
        (await administrator.read(within(namespace, configMap(name)))) as unknown as ConfigMap | undefined,
    ),
  );
  if (made?.data?.["asked"] === "yes" && made.data["answered"] === undefined)
    await administrator.patch(within(namespace, configMap("made", { answered: "true" })));
  if (dropped === undefined) await administrator.create(within(namespace, configMap("dropped", AGAIN)));
  return [made, dropped];
};

/** The recipe; what is left of it. */
export const scaling: Subject<object> = {
  start: controllerOf,
  prepare: async () => {
    const namespace = await prepared();
    nodes.set(namespace, await nodeFor(namespace));
    await administrator.create(within(namespace, configMap("dropped")));
    await administrator.create(within(namespace, web));
    await administrator.create(within(namespace, recipe(namespace)));
    await administrator.create(within(namespace, actionSet("run", actionOn("backup", "scale"))));
    return namespace;
  },
  ended: async (namespace) => {
    const [made, dropped] = await somebody(namespace);
    const found = (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject | undefined;
    if (found === undefined || !isOver(found) || dropped === undefined) return undefined;
    if ((await administrator.list({ apiVersion: "v1", kind: "Secret" }, namespace)).length > 0) return undefined;
    const workload = await administrator.read(within(namespace, web));
    await nodes.get(namespace)?.stop();
    const { state, error, actions } = found.status;
    const text = JSON.stringify(
      {
        state,
        error,
        actions,
        made: { labels: made?.metadata["labels"], data: made?.data },
        dropped: dropped.data,
        replicas: (workload?.["spec"] as { readonly replicas: number } | undefined)?.replicas,
      },
      (key, value: unknown) => (key === "lastTransitionTime" ? undefined : value),
    );
    return JSON.parse(text.replaceAll(namespace, "here")) as object;
  },
};
