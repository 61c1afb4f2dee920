// A recipe for the suites of atomic actions: creates, patches and deletes an object each in a Transaction; its last phase fails, or not.
import type { KubeObject } from "@janus/kube";
import type { Subject } from "../crash/any-controller.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import { start as startTransactions } from "../fixtures/workspace.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, blueprint } from "./objects.ts";
import { controllerOf, isOver, prepared } from "./world.ts";

export const TRANSACTION = { apiVersion: "backup.janus.io/v1alpha1", kind: "Transaction" };

/** The Transactions that nobody has deleted. */
export const transactionsIn = async (namespace: string): Promise<readonly KubeObject[]> =>
  (await administrator.list(TRANSACTION, namespace)).filter(
    ({ metadata: { deletionTimestamp } }) => deletionTimestamp === undefined,
  );

const referenceTo = (name: string): object => ({ apiVersion: "v1", resource: "configmaps", name });

/** A phase that changes an object of the namespace of the ActionSet. */
export const ops = (name: string, args: object, more: object = {}): object => ({
  func: "KubeOps",
  name,
  args: { namespace: "{{ .Object.metadata.namespace }}", ...args },
  ...more,
});

export const making = (name: string, object: string, more: object = {}): object =>
  ops(name, { operation: "create", spec: `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${object}}}` }, more);

export const patching = (name: string, object: string, spec: string, more: object = {}): object =>
  ops(name, { operation: "patch", objectReference: referenceTo(object), spec }, more);

export const deleting = (name: string, object: string): object =>
  ops(name, { operation: "delete", objectReference: referenceTo(object) });

/** Its phases `make`, `edit` and `drop` change `made`, `edited` and `dropped`; then come those that are given. */
export const atomicRecipe = (...phases: readonly object[]): Manifest =>
  blueprint("atomic", {
    backup: {
      atomic: true,
      phases: [
        making("make", "made"),
        patching("edit", "edited", "data: {value: new}"),
        deleting("drop", "dropped"),
        ...phases,
      ],
      deferPhase: making("note", "deferred"),
    },
  });

/** It fails: what it makes is there already. */
export const FAILING = making("fail", "edited");

export const EXISTING = [configMap("edited", { value: "old" }), configMap("dropped", { value: "kept" })];

/** The data of the ConfigMaps that the recipe changes. */
export const contents = async (namespace: string): Promise<Readonly<Record<string, unknown>>> =>
  Object.fromEntries(
    await Promise.all(
      ["made", "edited", "dropped", "deferred"].map(async (name) => {
        const found = await administrator.read(within(namespace, configMap(name)));
        return [name, found === undefined ? "absent" : (found["data"] ?? {})] as const;
      }),
    ),
  );

const stops = new Map<string, () => Promise<void>>();

/** The recipe, with a controller of Transactions that does not crash; what is left of it. */
export const atomic: Subject<object> = {
  start: controllerOf,
  prepare: async () => {
    const namespace = await prepared();
    stops.set(namespace, startTransactions(namespace).stop);
    for (const one of [...EXISTING, atomicRecipe(FAILING), actionSet("run", actionOn("backup", "atomic"))])
      await administrator.create(within(namespace, one));
    return namespace;
  },
  ended: async (namespace) => {
    const found = (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject | undefined;
    if (found === undefined || !isOver(found)) return undefined;
    const secrets = await administrator.list({ apiVersion: "v1", kind: "Secret" }, namespace);
    if (secrets.length > 0 || (await transactionsIn(namespace)).length > 0) return undefined;
    const objects = await contents(namespace);
    await stops.get(namespace)?.();
    const { state, error, actions } = found.status;
    const text = JSON.stringify({ state, error, actions, objects }, (key, value: unknown) =>
      key === "lastTransitionTime" ? undefined : value,
    );
    return JSON.parse(text.replaceAll(namespace, "here").replaceAll(/kanister-[a-z2-7]{10}/gu, "it")) as object;
  },
};
