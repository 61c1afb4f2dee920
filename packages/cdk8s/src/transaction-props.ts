// The props of the Transaction construct.
import type { ApiObject, ApiObjectMetadata } from "cdk8s";
import type { Change, ChangeOptions } from "./change.ts";
import type { Gate } from "./gate.ts";
import type { Time } from "./time.ts";

export interface TransactionOptions {
  /**
   * Labels, annotations, name and namespace of the Transaction.
   * @default - the namespace and labels of its chart; a name that is different for each content, from the path of the
   * construct and a hash of the spec
   */
  readonly metadata?: ApiObjectMetadata;
  /**
   * The run of the pipeline, such as `process.env.GITHUB_RUN_ID`: part of the hash in the name, so that each run has a
   * Transaction of its own, and one that runs again after a failure releases again.
   * @default - the same content has the same name, and is executed once
   */
  readonly run?: string | undefined;
  /**
   * The ServiceAccount that reads and modifies the objects: its name, or a construct such as `ServiceAccount` of
   * cdk8s-plus. It must be in the namespace of the Transaction, and exist before it.
   */
  readonly serviceAccount: string | { readonly name: string };
  /**
   * Gates that each object must meet before the next change is made, such as `ready`.
   * @default - waits for nothing
   */
  readonly waitFor?: readonly Gate[];
  /**
   * When the gates are waited for: those of each object before the next change is made (`EachChange`), or all of them once all
   * changes are made, before it is Committed (`End`).
   * @default "EachChange"
   */
  readonly waitAt?: "EachChange" | "End";
  /**
   * How long the Transaction may take until all changes are made. After that, it is rolled back.
   * @default "30m"
   */
  readonly timeout?: Time;
  /**
   * How long the locks on the objects hold if the controller stops renewing them.
   * @default "5m"
   */
  readonly lockTimeout?: Time;
  /**
   * Gates that the restored objects must meet after a rollback.
   * @default - waits for nothing
   */
  readonly rollbackWaitFor?: readonly Gate[];
  /**
   * How long to wait for `rollbackWaitFor`.
   * @default "10m"
   */
  readonly rollbackWaitTimeout?: Time;
  /**
   * What happens when the Transaction is deleted while it is active: what is applied stays (`Release`), or it is
   * rolled back first (`Rollback`).
   * @default "Release"
   */
  readonly deletionPolicy?: "Release" | "Rollback";
  /**
   * How long the Committed Transaction can still be rolled back on request. Its snapshots are kept until then.
   * @default 0s, not at all
   */
  readonly rollbackWindow?: Time;
  /**
   * Seconds after which the finished Transaction is deleted, though not before its rollbackWindow has passed.
   * @default - what the controller is configured to; else it is kept
   */
  readonly ttlSecondsAfterFinished?: number;
  /**
   * How long a Draft or a proposed Transaction is kept after it was last edited or moved.
   * @default - it is kept
   */
  readonly draftTTL?: Time;
  /**
   * `Draft` and `Proposed`: nothing is applied until a user publishes it, or approves it in namespaces that require that.
   * @default "Published"
   */
  readonly lifecycle?: "Draft" | "Proposed" | "Published";
  /**
   * The digest of the render that was approved (`status.render.digest`), only with `lifecycle: "Published"`: if the
   * Transaction would do anything else, it is Failed, and nothing is made.
   * @default - whatever it does is made
   */
  readonly approvedDigest?: string;
}

export interface TransactionProps extends TransactionOptions {
  /** The changes, which are made one after the other in this order: all of them or none. At most 500. */
  readonly changes: readonly Change[];
}

export interface WholeChartProps extends TransactionOptions {
  /**
   * Options of the change of one object, such as its gates; called once for each.
   * @default - none: those of the Transaction hold
   */
  readonly changeOptions?: (object: ApiObject) => ChangeOptions;
}
