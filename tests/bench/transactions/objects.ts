// The changes that all sides make: another value of as many ConfigMaps, each side of its own ones.
import type { JsonObject } from "@janus/api";
import { numbers } from "../figures.ts";
import { NAMESPACE } from "./cluster.ts";

/** A change of a Transaction. */
export interface Change extends JsonObject {
  readonly type: "Create" | "Update" | "Patch" | "Apply" | "Replace" | "Delete";
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
}

export const configMap = (name: string, value: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NAMESPACE },
  data: { value },
});

export const patch = (name: string, value: string): Change => ({
  type: "Patch",
  target: { apiVersion: "v1", kind: "ConfigMap", name },
  content: { data: { value } },
});

/** The names of targets from one on. */
export const namesOf = (prefix: string, count: number, from = 0): readonly string[] =>
  numbers(count).map((n) => `${prefix}-${from + n}`);
