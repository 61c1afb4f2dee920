// Decodes a stored Transaction, and refuses one that is damaged or of a later version.
import {
  Condition,
  emptyStatus,
  isLater,
  type Item,
  Metadata,
  Phase,
  report,
  SnapshotStore,
  Spec,
  Transaction,
} from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { isLaterFormat } from "./format.ts";
import { asObject, type KubeObject } from "@janus/types";

/** Phases in which every change has been prepared. */
const PREPARED: readonly Phase[] = ["Prepared", "Committing", "Committed", "RollingBack", "RolledBack"];

/** Invariants of a stored Transaction. */
const checks: readonly ((txn: Transaction) => string | undefined)[] = [
  ({ spec, status: { phase, items } }) =>
    phase === "Pending" || items.length === spec.changes.length
      ? undefined
      : `status.items: has ${items.length} entries for ${spec.changes.length} changes`,
  ({ status: { phase, items } }) => {
    const at = items.findIndex(({ state }) => state.type === "untouched" || state.type === "refused");
    return at === -1 || !PREPARED.includes(phase)
      ? undefined
      : `status.items[${at}]: is not prepared in phase ${phase}`;
  },
  ({ status: { phase, items } }) => {
    const at = items.findIndex(({ state }) => state.type !== "untouched");
    return at === -1 || phase !== "Preparing" ? undefined : `status.items[${at}]: is prepared in phase Preparing`;
  },
  ({ spec, status: { items } }) => {
    const at = items.findIndex(
      ({ state }, index) =>
        "before" in state &&
        spec.changes[index] !== undefined &&
        spec.changes[index].type !== "Apply" &&
        spec.changes[index].type !== "Replace" &&
        state.before.existed === (spec.changes[index].type === "Create"),
    );
    return at === -1
      ? undefined
      : `status.items[${at}]: ${spec.changes[at]?.type === "Create" ? "a Create has no snapshot" : "its snapshot is missing"}`;
  },
];

/** Why a Transaction is not read: field and reason, never a value. */
export type Unread =
  /** See `quarantine.ts`. */
  | { readonly type: "unreadable"; readonly why: string }
  /** A later version of the controller may read it; see `await-upgrade.ts`. */
  | {
      readonly type: "unsupported";
      readonly why: string;
      /** Its conditions can be written without anything being lost. */
      readonly takesConditions: boolean;
    };

/** Decodes a stored Transaction, if all of it is valid. Nothing may be done for one that is not. */
export const decodeStored = (stored: KubeObject): E.Either<Unread, Transaction> => {
  const decoded = Transaction.decode(stored);
  if (E.isLeft(decoded)) {
    const unknown = decoded.left.filter(isLater);
    return E.left(
      unknown.length === 0
        ? { type: "unreadable", why: report(decoded.left) }
        : { type: "unsupported", why: report(unknown), takesConditions: takesConditions(stored) },
    );
  }
  const wrong = checks.flatMap((check) => check(decoded.right) ?? []);
  return wrong.length === 0 ? decoded : E.left({ type: "unreadable", why: wrong.join("; ") });
};

/**
 * Every write drops fields that the CRD does not have. If the unknown fields are in the CRD, nothing of them is
 * lost; but a status in a later format may be stored under an older CRD.
 */
const takesConditions = (stored: KubeObject): boolean => {
  const { formatVersion, conditions } = asObject(stored["status"]);
  return !isLaterFormat(formatVersion) && list(conditions).every((condition) => E.isRight(Condition.decode(condition)));
};

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
    ? [{ lock: { lease: lockLease, namespace: leaseNamespace }, state: { type: "untouched" } }]
    : [];
};

/** The placeholder for a spec that cannot be read. */
const noSpec: Spec = {
  serviceAccountName: "",
  lifecycle: "Published",
  lockTimeout: 1000,
  timeout: 1000,
  deletionPolicy: "Release",
  changes: [],
};

/**
 * Decodes what can be decoded of a Transaction that is not {@link decodeStored}: its identity, its locks and its snapshots. Its
 * items belong to no changes.
 */
export const decodeBestEffort = (stored: KubeObject): Transaction => {
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
