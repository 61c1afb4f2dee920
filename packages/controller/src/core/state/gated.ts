// A target that has gates, with all that it is judged by.
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
  /** Set if it matters what others have reverted of the change, and can be told. */
  readonly revertible?: Revertible;
}

/** What tells what others have reverted of a change. */
export interface Revertible {
  /** The Transaction that has made it. */
  readonly author: TransactionRef;
  /** Its target before the change, if there was one and that matters. */
  readonly before?: KubeObject;
}
