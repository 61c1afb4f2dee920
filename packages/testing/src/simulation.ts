// The result of simulate.

/** A Kubernetes object, such as YAML gives. */
export interface SimulatedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** One request to the API server. */
export interface SimulatedRequest {
  /** `apply` is a server-side apply, `patch` a JSON merge patch: RBAC calls both `patch`. */
  readonly verb: "get" | "create" | "update" | "apply" | "patch" | "delete";
  readonly target: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  };
  /** The object of a create or update; what an apply or patch sets; absent for a get or delete. */
  readonly body?: object;
  /** The API server only checked it. */
  readonly dryRun: boolean;
  /** The user: `system:serviceaccount:shop:deployer` for targets, `controller` for everything else. */
  readonly as: string;
  /** The purpose. change, rollback: the write itself; read, check: before it. Else what the controller keeps for itself. */
  readonly purpose: "read" | "check" | "change" | "rollback" | "other";
  /** The index of the change that it is for. */
  readonly change?: number;
  /** Why the API server refused it. */
  readonly error?: string;
}

/** One of `status.items`. */
export interface SimulatedItem {
  /** `ConfigMap app-config`, with the namespace if the change names one. */
  readonly target: string;
  readonly state:
    | "Pending"
    | "Refused"
    | "Prepared"
    | "Applied"
    | "NotApplied"
    | "Unknown"
    | "RolledBack"
    | "RollbackFailed";
  readonly error?: string;
  /** The error is that of a gate that was not met. */
  readonly gateFailed?: boolean;
  /** The objects that the garbage collector would delete with the target of a Delete. */
  readonly dependents?: string;
}

/** One of `status.conditions`. */
export interface SimulatedCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export interface SimulatedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** The outcome of a Transaction. Plain data, which can be compared and printed. */
export interface Simulation {
  readonly phase:
    | "Pending"
    | "Preparing"
    | "Prepared"
    | "Committing"
    | "Committed"
    | "RollingBack"
    | "RolledBack"
    | "Failed";
  /**
   * How it ended, and why: the phase, its reason and message, and the errors of the changes. Meant as the message of an
   * assertion: `expect(result.phase, result.why).toBe("Committed")`.
   */
  readonly why: string;
  /** Why it was refused before the first change, in the words of the API server or the controller; otherwise empty. */
  readonly problems: readonly string[];
  readonly conditions: readonly SimulatedCondition[];
  readonly items: readonly SimulatedItem[];
  readonly events: readonly SimulatedEvent[];
  readonly requests: readonly SimulatedRequest[];
  /** Indexes of the changes that were made, in that order. */
  readonly applied: readonly number[];
  /** Indexes of the changes that were rolled back by a write, in that order. */
  readonly rolledBack: readonly number[];
  /**
   * All objects at the end, the initial ones first. Without status and without what the API server sets in the metadata: uid,
   * resourceVersion, generation, creationTimestamp, managedFields. So they equal `before` if nothing has changed.
   */
  readonly objects: readonly SimulatedObject[];
  /** The live objects at the beginning, in the same form. */
  readonly before: readonly SimulatedObject[];
}
