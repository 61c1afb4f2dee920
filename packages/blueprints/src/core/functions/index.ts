// The functions of blueprints by name.
import type { KanisterFunction } from "../phase-context.ts";
import { kubeTask } from "./kube-task.ts";

/** One with its own types of arguments is used with those that were read by its own table. */
const FUNCTIONS: Readonly<Record<string, unknown>> = { KubeTask: kubeTask };

export const functionNames: readonly string[] = Object.keys(FUNCTIONS);

export const functionOf = (name: string): KanisterFunction | undefined =>
  Object.hasOwn(FUNCTIONS, name) ? (FUNCTIONS[name] as KanisterFunction) : undefined;
