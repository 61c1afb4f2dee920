// The target of a change that has gates, and all that it is judged by.
import type { ResolvedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import type { Gate } from "../gates/gate.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { TransactionRef } from "../merge/write-body.ts";

/** A target, and the gates that it has to meet. */
export interface Gated {
  readonly index: number;
  readonly change: ResolvedChange;
  readonly place: ObjectRef;
  readonly gates: readonly Gate[];
  /** The uid that it has had since the change, or the rollback, of this Transaction. */
  readonly uid: string;
  /** Whether messages must not quote its values. */
  readonly conceals: boolean;
  /** The state that tells what others have reverted of the change. Absent: that does not matter, or nothing tells it. */
  readonly revertible?: Revertible;
}

/** A change as it was made: by this Transaction, of a target that was so before; absent: not there, or it tells nothing. */
export interface Revertible {
  readonly author: TransactionRef;
  readonly before?: KubeObject;
}
