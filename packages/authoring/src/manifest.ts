// The types of manifests and Transactions as authors write them.
import type { JsonObject } from "@janus/types";

/** A Kubernetes object as it is written in a manifest. */
export interface Manifest {
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

export interface TargetManifest {
  /** `v1`, or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** @default - the namespace of the Transaction; none for cluster-scoped kinds */
  readonly namespace?: string;
}

/** A key of an immutable ConfigMap or Secret: exactly one of the two. */
export interface ContentFrom {
  readonly configMapKeyRef?: { readonly name: string; readonly key: string };
  readonly secretKeyRef?: { readonly name: string; readonly key: string };
}

/** One change of a Transaction, as in `spec.changes`. */
export interface ChangeManifest {
  readonly target: TargetManifest;
  readonly type: "Create" | "Update" | "Patch" | "Apply" | "Replace" | "Delete";
  /** The manifest of a Create, Update, Apply or Replace, or the fields to set with a Patch; none for a Delete. */
  readonly content?: JsonObject;
  /** The place of the content, in the namespace of the Transaction. @default - in `content` */
  readonly contentFrom?: ContentFrom;
  /** @default - any version */
  readonly resourceVersion?: string;
  /** @default - spec.waitFor */
  readonly waitFor?: readonly string[];
  /** A duration such as `10m`. @default - what is left of spec.timeout */
  readonly waitTimeout?: string;
}

/** The part of a Transaction that a user sets. `kubectl explain txn.spec` describes each field. */
export interface SpecManifest {
  readonly serviceAccountName: string;
  readonly changes: readonly ChangeManifest[];
  /** @default "Published" */
  readonly lifecycle?: "Draft" | "Proposed" | "Published";
  /** The digest of the render that was approved. @default - none is compared */
  readonly approvedDigest?: string;
  /** @default "5m" */
  readonly lockTimeout?: string;
  /** @default "30m" */
  readonly timeout?: string;
  /** @default - waits for nothing */
  readonly waitFor?: readonly string[];
  /** @default "EachChange" */
  readonly waitAt?: "EachChange" | "End";
  /** @default - waits for nothing */
  readonly rollbackWaitFor?: readonly string[];
  /** @default "10m" */
  readonly rollbackWaitTimeout?: string;
  /** @default "Release" */
  readonly deletionPolicy?: "Release" | "Rollback";
  /** @default "0s" */
  readonly rollbackWindow?: string;
  /** @default - it is kept */
  readonly ttlSecondsAfterFinished?: number;
}

export interface TransactionManifest {
  readonly apiVersion: "backup.janus.io/v1alpha1";
  readonly kind: "Transaction";
  readonly metadata: Manifest["metadata"];
  readonly spec: SpecManifest;
}
