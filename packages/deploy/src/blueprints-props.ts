// The settings of the Blueprint controller, and their defaults.
import type { k8s } from "cdk8s-plus-30";
import { defaultResources } from "./controller-pod.ts";

export interface Blueprints {
  /**
   * ServiceAccount of ActionSets that name none, in their own namespace.
   * @default "default"
   */
  readonly defaultServiceAccount?: string;
  /**
   * Image of the Pods that move data: with restic and kando.
   * @default - Kanister's own: see the flag --tools-image
   */
  readonly toolsImage?: string;
  /**
   * The most actions of a namespace that are executed at the same time; at least 1. Its ActionSets beyond that wait, the oldest first.
   * @default 100
   */
  readonly maxRunningActions?: number;
  /**
   * Seconds after which finished ActionSets without artifacts are deleted that have no `ttlSecondsAfterFinished`.
   * @default - they are kept
   */
  readonly defaultTtlSecondsAfterFinished?: number;
  /**
   * Whose ServiceAccounts need the permission `impersonate` of who creates the ActionSet: "Named", of those that it names; "Always",
   * also the default one.
   * @default "Named"
   */
  readonly requireImpersonate?: "Named" | "Always";
  /**
   * What happens to a Blueprint with a function that does not exist, or with arguments that do not fit: "Deny", it is refused; "Warn",
   * its author is told; "Off", it is admitted, and refused when it is used.
   * @default "Deny"
   */
  readonly validation?: "Deny" | "Warn" | "Off";
  /**
   * How long a Pod of a function may take until it runs, as a duration of Go.
   * @default "15m"
   */
  readonly podReadyTimeout?: string;
  /**
   * The namespaces whose ActionSets are executed; they must exist. The controller has no permissions in others.
   * @default - all namespaces
   */
  readonly watchNamespaces?: readonly string[];
  /**
   * Number of controllers, of which one leads; at least 1.
   * @default 2
   */
  readonly replicas?: number;
  /**
   * Resource requests and limits of a controller.
   * @default requests of 100m CPU and 256Mi memory, a limit of 512Mi memory
   */
  readonly resources?: k8s.ResourceRequirements;
}

export interface BlueprintsProps {
  /**
   * The Blueprint controller.
   * @default the settings' own defaults
   */
  readonly blueprints?: Blueprints;
}

export const blueprintsDefaults = {
  defaultServiceAccount: "default",
  maxRunningActions: 100,
  requireImpersonate: "Named",
  validation: "Deny",
  podReadyTimeout: "15m",
  replicas: 2,
  resources: defaultResources,
} as const satisfies Blueprints;

export const BLUEPRINTS_NAME = "janus-blueprints";
