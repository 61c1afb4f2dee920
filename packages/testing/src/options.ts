// The options of simulate.
import type { Denied } from "./api-server/denied.ts";
import type { SimulatedObject } from "./simulation.ts";

/** How the API server refuses a change. */
export interface Refusal {
  /** The index of the change in `spec.changes`. */
  readonly change: number;
  /**
   * HTTP status code. The controller sends the change again after 404, 408, 409, 429 and 5xx, until `spec.timeout`.
   *
   * @default 403, as an admission webhook answers
   */
  readonly code?: number;
  /** @default - says that the simulation refuses it */
  readonly message?: string;
}

/** An edit that another client makes while the Transaction is active. */
export interface Edit {
  /** The change (its index in `spec.changes`) just before which it is made; or the rollback, before its first request. */
  readonly before: number | "rollback";
  readonly target: ObjectName;
  /** A JSON merge patch (RFC 7386), such as `{ data: { colour: "red" } }`; `null` deletes the object. */
  readonly patch: object | null;
  /**
   * The field manager that messages name.
   *
   * @default "another-client"
   */
  readonly manager?: string;
}

export interface ObjectName {
  /** `v1`, or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** @default - the namespace of the Transaction; none for cluster-scoped kinds */
  readonly namespace?: string;
}

export interface SimulateOptions {
  /**
   * The change that the API server refuses when it is made, though it accepted it as a dry run.
   *
   * @default - none
   */
  readonly failAt?: number | Refusal;
  /**
   * Requests that the ServiceAccount may not make.
   *
   * @default - it may do everything
   */
  readonly denied?: readonly Denied[];
  /** @default - no other client edits anything */
  readonly edits?: readonly Edit[];
  /**
   * The status of an object of the Transaction that is waited for, once a controller has seen it: looked for after each of its
   * writes. `undefined`: the default.
   *
   * @default - the status of a Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, Pod, PersistentVolumeClaim or
   * CustomResourceDefinition that is ready; for other kinds the condition Ready
   */
  readonly ready?: (object: SimulatedObject) => object | undefined;
  /**
   * Targets that get no status, so that a gate on them is never met.
   *
   * @default - none
   */
  readonly notReady?: readonly ObjectName[];
  /**
   * The time at the beginning. The simulated clock advances from there by itself.
   *
   * @default 2026-01-01T00:00:00Z
   */
  readonly now?: Date;
  /**
   * The requests that are reported: those to targets, or also those for locks, journal, snapshots and status.
   *
   * @default "targets"
   */
  readonly requests?: "targets" | "all";
}
