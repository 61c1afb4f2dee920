import {
  Condition,
  decodeTransaction,
  emptyStatus,
  type Item,
  Metadata,
  Phase,
  SnapshotStore,
  Spec,
  type Transaction,
} from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { asObject } from "./json.ts";
import type { KubeObject } from "./object.ts";

/** Phases in which every change has been prepared. */
const PREPARED: readonly Phase[] = ["Prepared", "Committing", "Committed", "RollingBack", "RolledBack"];

/** What no Transaction of ours ever says of itself: one small check each. */
const checks: readonly ((txn: Transaction) => string | undefined)[] = [
  ({ spec, status: { phase, items } }) =>
    phase === "Pending" || items.length === spec.changes.length
      ? undefined
      : `status.items: has ${items.length} entries for ${spec.changes.length} changes`,
  ({ status: { phase, items } }) => {
    const at = items.findIndex(({ state }) => state.at === "untouched" || state.at === "refused");
    return at === -1 || !PREPARED.includes(phase)
      ? undefined
      : `status.items[${at}]: is not prepared in phase ${phase}`;
  },
  ({ status: { phase, items } }) => {
    const at = items.findIndex(({ state }) => state.at !== "untouched");
    return at === -1 || phase !== "Preparing" ? undefined : `status.items[${at}]: is prepared in phase Preparing`;
  },
  ({ spec, status: { items } }) => {
    const at = items.findIndex(
      ({ state }, index) =>
        "before" in state &&
        spec.changes[index] !== undefined &&
        state.before.existed === (spec.changes[index].type === "Create"),
    );
    return at === -1
      ? undefined
      : `status.items[${at}]: ${spec.changes[at]?.type === "Create" ? "a Create has no snapshot" : "its snapshot is missing"}`;
  },
];

/**
 * A Transaction as the API server stores it, if all of it can be understood.
 *
 * @returns Left: what is wrong where, never a value. Nothing may be done for such a Transaction: see `leave-alone.ts`.
 */
export const readable = (stored: KubeObject): E.Either<string, Transaction> =>
  E.flatMap(decodeTransaction(stored), (txn) => {
    const wrong = checks.flatMap((check) => check(txn) ?? []);
    return wrong.length === 0 ? E.right(txn) : E.left(wrong.join("; "));
  });

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const whole = <A>(
  codec: { readonly decode: (value: unknown) => E.Either<unknown, A> },
  value: unknown,
): readonly A[] => {
  const decoded = codec.decode(value);
  return E.isRight(decoded) ? [decoded.right] : [];
};

const lockOf = (item: unknown): readonly Item[] => {
  const { lockLease, leaseNamespace } = asObject(item);
  return typeof lockLease === "string" &&
    typeof leaseNamespace === "string" &&
    lockLease !== "" &&
    leaseNamespace !== ""
    ? [{ lock: { lease: lockLease, namespace: leaseNamespace }, state: { at: "untouched" } }]
    : [];
};

/** Stands for a spec that cannot be read. */
const noSpec: Spec = {
  serviceAccountName: "",
  lockTimeout: 1000,
  timeout: 1000,
  deletionPolicy: "Release",
  changes: [],
};

/** What can be understood of one that is not {@link readable}: whose it is, what it has locked, and its snapshots. No item is of any change. */
export const salvage = (stored: KubeObject): Transaction => {
  const { name = "", namespace = "", uid = "", resourceVersion = "", generation = 0 } = stored.metadata;
  const status = asObject(stored["status"]);
  return {
    metadata: whole(Metadata, stored.metadata)[0] ?? { name, namespace, uid, resourceVersion, generation },
    spec: whole(Spec, stored["spec"])[0] ?? noSpec,
    status: {
      ...emptyStatus,
      phase: whole(Phase, status["phase"])[0] ?? "Pending",
      items: list(status["items"]).flatMap(lockOf),
      snapshots: list(status["snapshots"]).flatMap((ref) => whole(SnapshotStore, ref)),
      conditions: list(status["conditions"]).flatMap((condition) => whole(Condition, condition)),
    },
  };
};
