import * as E from "fp-ts/lib/Either.js";
import { as, boolean, type Codec, described, oneOf, optional, string, type TypeOf, withDefault } from "./codec.ts";
import { text } from "./text.ts";
import { object } from "./structure.ts";

/** The Lease that keeps others away from the target. */
export interface Lock {
  readonly lease: string;
  readonly namespace: string;
}

/** What was there before the Transaction. `snapshot.store` is the name of one of `status.snapshots`; absent once it is Committed. */
export type Before =
  | { readonly existed: false }
  | {
      readonly existed: true;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly snapshot?: { readonly store: string; readonly key: string };
      /** What the garbage collector takes with it when it is deleted, in words. */
      readonly dependents?: string;
    };

/** What is known of one change. */
export type ItemState =
  /** Nothing was done yet. */
  | { readonly type: "untouched" }
  /** The preflight said no; no changes were applied. */
  | { readonly type: "refused"; readonly error: string }
  /** The prior state is safe. */
  | { readonly type: "prepared"; readonly before: Before }
  /** It cannot be told whether the change was made: the target is left alone. */
  | { readonly type: "unknown"; readonly before: Before; readonly error: string }
  /** The server refused the change for good; the target is as it was. */
  | { readonly type: "rejected"; readonly before: Before; readonly error: string }
  /** The change is in. `created` is the uid of the object that it made. */
  | { readonly type: "committed"; readonly before: Before; readonly created?: string }
  /** The change is in and could not be rolled back; the error says why. */
  | { readonly type: "rollback-failed"; readonly before: Before; readonly created?: string; readonly error: string }
  /** The target is as it was before; an error is a warning. */
  | { readonly type: "restored"; readonly before: Before; readonly created?: string; readonly error?: string };

export interface Item {
  /** The target, for people. */
  readonly target?: string;
  readonly lock?: Lock;
  readonly state: ItemState;
  /** What its target has not got to yet, since when it is waited for, and how it is now. */
  readonly waiting?: { readonly gate: string; readonly since: string };
}

/** What each state is called on the wire. The booleans say the same. */
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

const name = string({ maxLength: 253 });
const Wire = object({
  target: optional(described("The target: kind and name, with the namespace if the change names one.", text(128))),
  state: optional(
    described(
      "State of the change. Pending: nothing was done yet. Refused: the checks before the first change failed. Prepared: its snapshot was taken. Applied: the change was applied. NotApplied: the API server rejected it; the target is unchanged. Unknown: whether it was applied cannot be determined. RolledBack: the target was restored. RollbackFailed: it was applied and could not be rolled back.",
      oneOf(...Object.values(STATES)),
    ),
  ),
  lockLease: optional(described("Name of the Lease that locks the target.", name)),
  leaseNamespace: optional(described("Namespace of that Lease.", name)),
  prepared: withDefault(false, described("The target was read, and its state is kept in a snapshot.", boolean)),
  committed: withDefault(
    false,
    described(
      "The change was applied. With an error and not rolledBack: it could not be rolled back, or the API server rejected it.",
      boolean,
    ),
  ),
  rolledBack: withDefault(false, described("The target is as it was before the change.", boolean)),
  error: optional(described("What failed, and what to do.", text(256))),
  uid: optional(described("uid of the target before the change; absent if there was none.", name)),
  resourceVersion: optional(
    described("resourceVersion of the target before the change; absent if there was none.", name),
  ),
  snapshot: optional(
    described(
      "Where the state of the target before the change is kept; absent once the Transaction is Committed.",
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
  waitingFor: optional(described("Of waitFor, what the target has not got to yet.", text(256))),
  waitingSince: optional(described("When waiting for that began.", string({ maxLength: 64 }))),
  created: optional(described("uid of the object that this change created.", name)),
});
type Wire = TypeOf<typeof Wire>;

const lockOf = ({ lockLease, leaseNamespace }: Wire): E.Either<string, Pick<Item, "lock">> =>
  lockLease !== undefined && leaseNamespace !== undefined
    ? E.right({ lock: { lease: lockLease, namespace: leaseNamespace } })
    : lockLease === undefined && leaseNamespace === undefined
      ? E.right({})
      : E.left("lockLease and leaseNamespace go together");

const beforeOf = ({ uid, resourceVersion, snapshot, dependents }: Wire): E.Either<string, Before> =>
  uid !== undefined && resourceVersion !== undefined
    ? E.right({
        existed: true,
        uid,
        resourceVersion,
        ...(snapshot === undefined ? {} : { snapshot }),
        ...(dependents === undefined ? {} : { dependents }),
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

const encode = ({ target, lock, state, waiting }: Item): Wire => {
  const { type: at } = state;
  const before = "before" in state && state.before.existed ? state.before : undefined;
  return {
    ...(target === undefined ? {} : { target }),
    state: STATES[at],
    ...(lock === undefined ? {} : { lockLease: lock.lease, leaseNamespace: lock.namespace }),
    prepared: at !== "untouched" && at !== "refused",
    committed: at === "committed" || at === "rollback-failed" || at === "restored",
    rolledBack: at === "restored" || at === "rejected",
    ...("error" in state && state.error !== undefined ? { error: state.error } : {}),
    ...(before === undefined
      ? {}
      : {
          uid: before.uid,
          resourceVersion: before.resourceVersion,
          ...(before.snapshot === undefined ? {} : { snapshot: before.snapshot }),
          ...(before.dependents === undefined ? {} : { dependents: before.dependents }),
        }),
    ...("created" in state && state.created !== undefined ? { created: state.created } : {}),
    ...(waiting === undefined ? {} : { waitingFor: waiting.gate, waitingSince: waiting.since }),
  };
};

/** Booleans on the wire, for people and `kubectl wait`; one state inside. A combination that means nothing does not decode. */
export const Item: Codec<Item> = as(
  Wire,
  (wire) =>
    E.flatMap(lockOf(wire), (lock) =>
      E.map(
        (state: ItemState): Item => ({
          ...(wire.target === undefined ? {} : { target: wire.target }),
          ...lock,
          state,
          ...(wire.waitingFor === undefined
            ? {}
            : { waiting: { gate: wire.waitingFor, since: wire.waitingSince ?? "" } }),
        }),
      )(stateOf(wire)),
    ),
  encode,
);
