// Blueprints and ActionSets, as their users write and see them.
import type { KubeObject } from "@janus/kube";
import type { Manifest } from "../fixtures/administrator.ts";

export const API_VERSION = "cr.kanister.io/v1alpha1";

/** An ActionSet as its users see it. */
export interface ActionSetObject extends KubeObject {
  readonly status: {
    readonly state: string;
    readonly error?: { readonly message: string };
    readonly progress: { readonly percentCompleted: string; readonly runningPhase: string };
    readonly actions: readonly {
      readonly artifacts?: Readonly<Record<string, { readonly keyValue: Readonly<Record<string, string>> }>>;
      readonly phases: readonly {
        readonly name: string;
        readonly state: string;
        readonly output?: Readonly<Record<string, string>>;
      }[];
      readonly deferPhase?: { readonly state: string };
    }[];
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

export const actionSetRef = (name: string): Manifest => ({
  apiVersion: API_VERSION,
  kind: "ActionSet",
  metadata: { name },
});

export const blueprint = (name: string, actions: object): Manifest => ({
  apiVersion: API_VERSION,
  kind: "Blueprint",
  metadata: { name },
  actions,
});

/** An action on the ConfigMap `subject`. */
export const actionOn = (name: string, blueprintName: string, more: object = {}): object => ({
  name,
  blueprint: blueprintName,
  object: { apiVersion: "v1", group: "", resource: "configmaps", kind: "", name: "subject", namespace: "" },
  ...more,
});

export const actionSet = (name: string, ...actions: readonly object[]): Manifest => ({
  ...actionSetRef(name),
  metadata: { name },
  spec: { actions },
});
