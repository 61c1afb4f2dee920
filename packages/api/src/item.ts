// The codec of one entry of status.items: the recorded state of one change.
import * as E from "fp-ts/lib/Either.js";
import { as, boolean, type Codec, described, oneOf, optional, string, type TypeOf, withDefault } from "./codec.ts";
import { text } from "./text.ts";
import { object } from "./structure.ts";

/** The Lease that locks the target. */
export interface Lock {
  readonly lease: string;
  readonly namespace: string;
}

/** The state of the target before the Transaction. `snapshot.store` is one of `status.snapshots`; absent once it is Committed and its rollbackWindow has passed. */
export type Before =
  | { readonly existed: false }
  | {
      readonly existed: true;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly snapshot?: { readonly store: string; readonly key: string };
      /** The objects that the garbage collector deletes together with it, as text. */
      readonly dependents?: string;
      /** A Delete of this item also deletes objects that cannot be restored, such as volumes. */
      readonly isIrreversible?: true;
    };

/** The state of one change. */
export type ItemState =
  /** Not processed yet. */
  | { readonly type: "untouched" }
  /** The preflight failed; no changes were applied. */
  | { readonly type: "refused"; readonly error: string }
  /** The snapshot was taken. */
  | { readonly type: "prepared"; readonly before: Before }
  /** It is unknown whether the change was applied: the target is not modified. */
  | { readonly type: "unknown"; readonly before: Before; readonly error: string }
  /** The API server rejected the change; the target is unmodified. */
  | { readonly type: "rejected"; readonly before: Before; readonly error: string }
  /** The change was applied. `created` is the uid of the object that it created. */
  | { readonly type: "committed"; readonly before: Before; readonly created?: string }
  /** The change was applied and could not be rolled back; the error says why. */
  | { readonly type: "rollback-failed"; readonly before: Before; readonly created?: string; readonly error: string }
  /** The target is as it was before; an error is a warning. */
  | { readonly type: "restored"; readonly before: Before; readonly created?: string; readonly error?: string };

export interface Item {
  /** The target, as text. */
  readonly target?: string;
  readonly lock?: Lock;
  readonly state: ItemState;
  /** The gate that is not met yet, since when the Transaction waits for it, and the state of the target. */
  readonly waiting?: { readonly gate: string; readonly since: string };
  /** The gate that was not met, and the last state of the target, if the change is rolled back although it was applied. */
  readonly gateError?: string;
}

/** The name of each state in the API. The booleans say the same. */
const STATES = {
  untouched: "Pending",
  refused: "Refused",
  prepared: "Prepared",
  unknown: "Unknown",
  rejected: "NotApplied",
  committed: "Applied",
  "rollback-failed": "RollbackFailed",
  restored: "RolledBack",
} as const satisfies Record<ItemState["type"], string>;

export type StateName = (typeof STATES)[ItemState["type"]];

/** The name of the state, as `status.items[].state` has it. */
export const stateName = ({ type }: Pick<ItemState, "type">): StateName => STATES[type];

const name = string({ maxLength: 253 });
const Wire = object({
  target: optional(
    described(
      "The target, for example Deployment shop/web: kind, namespace if it has one, and name; shortened to fit.",
      text(128),
    ),
  ),
  state: optional(
    described(
      "State of the change. Pending: not processed yet. Refused: the checks before the first change failed. Prepared: its snapshot was taken. Applied: the change was applied. NotApplied: the API server rejected it; the target is unchanged. Unknown: whether it was applied cannot be determined. RolledBack: the target was restored. RollbackFailed: it was applied and could not be rolled back.",
      oneOf(...Object.values(STATES)),
    ),
  ),
  lockLease: optional(described("Name of the Lease that locks the target.", name)),
  leaseNamespace: optional(described("Namespace of that Lease.", name)),
  prepared: withDefault(false, described("The target was read, and a snapshot of it was taken.", boolean)),
  committed: withDefault(
    false,
    described(
      "The change was applied. It stays true when the change is rolled back (rolledBack), and when it could not be (an error, without gateFailed). It is false for a change that the API server rejected, which has rolledBack and an error.",
      boolean,
    ),
  ),
  rolledBack: withDefault(
    false,
    described(
      "The target is as it was before the change: it was restored, or the API server rejected the change.",
      boolean,
    ),
  ),
  error: optional(described("What failed, and what to do.", text(256))),
  uid: optional(described("uid of the target before the change; absent if there was none.", name)),
  resourceVersion: optional(
    described("resourceVersion of the target before the change; absent if there was none.", name),
  ),
  snapshot: optional(
    described(
      "Location of the snapshot of the target; absent once the Transaction is Committed and its rollbackWindow has passed.",
      object({
        store: described("Name of the store, one of status.snapshots.", name),
        key: described("Key in the store's data.", name),
      }),
    ),
  ),
  dependents: optional(
    described(
      "Of a Delete: objects that are deleted together with the target and that a rollback does not restore, as far as the ServiceAccount may list them.",
      text(256),
    ),
  ),
  irreversible: optional(
    described(
      "Of a Delete: it also deletes objects that cannot be restored, such as the volumes of a StatefulSet, so it is not rolled back.",
      boolean,
    ),
  ),
  waitingFor: optional(described("Gates of waitFor that are not met yet, with the state of the target.", text(256))),
  waitingSince: optional(described("When the Transaction started to wait for them.", string({ maxLength: 64 }))),
  gateFailed: optional(
    described(
      "A gate of waitFor was not met, so the changes are rolled back: the error names the gate and the last state of the target.",
      boolean,
    ),
  ),
  created: optional(described("uid of the object that this change created.", name)),
});
type Wire = TypeOf<typeof Wire>;

const lockOf = ({ lockLease, leaseNamespace }: Wire): E.Either<string, Pick<Item, "lock">> =>
  lockLease !== undefined && leaseNamespace !== undefined
    ? E.right({ lock: { lease: lockLease, namespace: leaseNamespace } })
    : lockLease === undefined && leaseNamespace === undefined
      ? E.right({})
      : E.left("lockLease and leaseNamespace go together");

const beforeOf = ({ uid, resourceVersion, snapshot, dependents, irreversible }: Wire): E.Either<string, Before> =>
  uid !== undefined && resourceVersion !== undefined
    ? E.right({
        existed: true,
        uid,
        resourceVersion,
        ...(snapshot === undefined ? {} : { snapshot }),
        ...(dependents === undefined ? {} : { dependents }),
        ...(irreversible === true ? { isIrreversible: true as const } : {}),
      })
    : uid === undefined && resourceVersion === undefined && snapshot === undefined && dependents === undefined
      ? E.right({ existed: false })
      : E.left("uid and resourceVersion go together, and a snapshot comes with them");

const stateOf = (wire: Wire): E.Either<string, ItemState> => {
  const { prepared, committed, rolledBack, error } = wire;
  const created = wire.created === undefined ? {} : { created: wire.created };
  const flags = [prepared, committed, rolledBack, error !== undefined].map((flag) => (flag ? "T" : "F")).join("");
  const impossible = E.left(
    `no item is prepared=${prepared}, committed=${committed}, rolledBack=${rolledBack}, created=${wire.created !== undefined}` +
      ` ${error === undefined ? "without" : "with"} an error`,
  );
  return E.flatMap(beforeOf(wire), (before): E.Either<string, ItemState> => {
    if (!prepared && before.existed) return E.left("uid, resourceVersion and snapshot are of a prepared item");
    if (!committed && wire.created !== undefined) return impossible;
    switch (flags) {
      case "FFFF":
        return E.right({ type: "untouched" });
      case "FFFT":
        return E.right({ type: "refused", error: error ?? "" });
      case "TFFF":
        return E.right({ type: "prepared", before });
      case "TFFT":
        return E.right({ type: "unknown", before, error: error ?? "" });
      case "TFTT":
        return E.right({ type: "rejected", before, error: error ?? "" });
      case "TTFF":
        return E.right({ type: "committed", before, ...created });
      case "TTFT":
        return E.right({ type: "rollback-failed", before, ...created, error: error ?? "" });
      case "TTTF":
        return E.right({ type: "restored", before, ...created });
      case "TTTT":
        return E.right({ type: "restored", before, ...created, error: error ?? "" });
      default:
        return impossible;
    }
  });
};

const gateErrorOf = ({ gateFailed, error, committed }: Wire): E.Either<string, Pick<Item, "gateError">> => {
  if (gateFailed !== true) return E.right({});
  return error !== undefined && committed
    ? E.right({ gateError: error })
    : E.left("gateFailed is of a committed item, and comes with an error");
};

/** The item without its error, where that is the one of a gate. */
const ownOf = ({ error, ...wire }: Wire): Wire =>
  error === undefined || wire.gateFailed === true ? wire : { ...wire, error };

const encode = ({ target, lock, state, waiting, gateError }: Item): Wire => {
  const { type: at } = state;
  // There is one error: what became of the rollback matters more than why it began, which the conditions say, too.
  const error = "error" in state ? state.error : undefined;
  const before = "before" in state && state.before.existed ? state.before : undefined;
  return {
    ...(target === undefined ? {} : { target }),
    state: STATES[at],
    ...(lock === undefined ? {} : { lockLease: lock.lease, leaseNamespace: lock.namespace }),
    prepared: at !== "untouched" && at !== "refused",
    committed: at === "committed" || at === "rollback-failed" || at === "restored",
    rolledBack: at === "restored" || at === "rejected",
    ...(error === undefined ? (gateError === undefined ? {} : { error: gateError, gateFailed: true }) : { error }),
    ...(before === undefined
      ? {}
      : {
          uid: before.uid,
          resourceVersion: before.resourceVersion,
          ...(before.snapshot === undefined ? {} : { snapshot: before.snapshot }),
          ...(before.dependents === undefined ? {} : { dependents: before.dependents }),
          ...(before.isIrreversible === true ? { irreversible: true } : {}),
        }),
    ...("created" in state && state.created !== undefined ? { created: state.created } : {}),
    ...(waiting === undefined ? {} : { waitingFor: waiting.gate, waitingSince: waiting.since }),
  };
};

/** Booleans in the API, for users and `kubectl wait`; one state in the code. Invalid combinations do not decode. */
export const Item: Codec<Item> = as(
  Wire,
  (wire) =>
    E.flatMap(lockOf(wire), (lock) =>
      E.flatMap(gateErrorOf(wire), (gateError) =>
        E.map(
          (state: ItemState): Item => ({
            ...(wire.target === undefined ? {} : { target: wire.target }),
            ...lock,
            state,
            ...(wire.waitingFor === undefined
              ? {}
              : { waiting: { gate: wire.waitingFor, since: wire.waitingSince ?? "" } }),
            ...gateError,
          }),
        )(stateOf(ownOf(wire))),
      ),
    ),
  encode,
);
