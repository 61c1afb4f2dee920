// Checks the spec of a Transaction where CEL in the CRD cannot.
import { changeGateMistakes, gateMistakes, isGated, rollbackGates } from "../gates/gates-of.ts";
import {
  asWritten,
  contentMistakes,
  CRD_NAME,
  cut,
  deletes,
  GROUP,
  groupOf,
  isBuiltIn,
  isIrreplaceable,
  KIND,
  mayCreate,
  storedIn,
  storeName,
  type Transaction,
} from "@janus/api";
import { TO_THE_END } from "./irreversible-changes.ts";
import { isIrreversible } from "../state/irreversible-deletions.ts";
import { asObject, canonical, type Json } from "@janus/types";
import { lostNull, nullItem, withoutNulls } from "../merge/nulls.ts";
import { mapMistake } from "./map-values.ts";
import { lastApplied } from "../kubernetes/last-applied.ts";
import { isTooDeep, TOO_DEEP } from "../kubernetes/nesting.ts";
import { contentsNames } from "../state/contents.ts";
import type { Observations } from "../state/observations.ts";
import { MOST_AWAITED_ITEMS } from "../state/status-progress.ts";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { resolvedTargets, targetProblem } from "../state/target-resolution.ts";
import { isFromSecret } from "../state/sensitive-kinds.ts";

/** Checks each change of a Transaction; the target is undefined if it cannot be resolved. */
type Check = (
  txn: Transaction,
  known: Observations,
) => (index: number, place: ObjectRef | undefined) => string | undefined;

/** Fields that metadata may have. Janus sends what users set of it, so that the API server sees no other field. */
const METADATA: readonly string[] = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/** Whether a snapshot of the Transaction may be kept under this name: it is written before the change is made. */
const isStoreOf = ({ namespace, name }: Transaction["metadata"], place: ObjectRef): boolean => {
  const { group, kind } = place.resource;
  if (group !== "" || !["ConfigMap", "Secret"].includes(kind) || place.namespace !== namespace) return false;
  const [suffix, number = "0"] = /-rollback(?:-(\d{1,4}))?$/u.exec(place.name) ?? [];
  return suffix !== undefined && place.name === storeName(name, Number(number));
};

/** The changes as a client-side `kubectl apply` was given them; none where it was not. */
const appliedChanges = ({ metadata }: Transaction): readonly Json[] => {
  const changes = asObject(lastApplied(metadata)?.["spec"])["changes"];
  return Array.isArray(changes) ? (changes as readonly Json[]) : [];
};

/** Unique for each object. */
const nameOf = (place: ObjectRef): string => `${storedIn(place.resource)} ${formatRef(place)}`;

/** Checks of the spec, beyond those of the API server. */
const checks: readonly Check[] = [
  (txn, known) => (index) => targetProblem(txn, known, index),
  (txn, known) => {
    const first = new Map(
      [...resolvedTargets(txn, known)].toReversed().map(([index, place]) => [nameOf(place), index] as const),
    );
    return (index, place) => {
      const earlier = place === undefined ? undefined : first.get(nameOf(place));
      return place === undefined || earlier === undefined || earlier === index
        ? undefined
        : `changes[${earlier}] and changes[${index}] have the same target ${formatRef(place)}: combine them into one change`;
    };
  },
  (txn) => (index) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || change.contentFrom === undefined) return undefined;
    const { kind, name, key } = change.contentFrom;
    const wrong = contentMistakes(change, change.content).map(({ path, message }) =>
      path === "" ? message : `${path}: ${message}`,
    );
    return wrong.length === 0 ? undefined : `${key} in ${kind} ${name}: ${wrong.join("; ")}`;
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || place === undefined) return undefined;
    const namespace = asObject(change.content["metadata"])["namespace"];
    return namespace === undefined || namespace === place.namespace
      ? undefined
      : `content.metadata.namespace of ${formatRef(place)} is ${isFromSecret(change) ? "another one" : JSON.stringify(namespace)}: remove it, or set target.namespace`;
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || place === undefined) return undefined;
    return asObject(change.content["metadata"])["resourceVersion"] === undefined
      ? undefined
      : `content.metadata.resourceVersion of ${formatRef(place)} would not be compared: remove it, or set the resourceVersion of the change`;
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || place === undefined) return undefined;
    const unknown = Object.keys(asObject(change.content["metadata"])).filter((name) => !METADATA.includes(name));
    return unknown.length === 0
      ? undefined
      : `content of ${formatRef(place)}: unknown field ${unknown.map((name) => JSON.stringify(cut(`metadata.${name}`, 128))).join(", ")}`;
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || place === undefined) return undefined;
    const mistake = mapMistake(place.resource, change.content);
    return mistake === undefined ? undefined : `content of ${formatRef(place)}: ${mistake}`;
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || change.type === "Delete" || place === undefined) return undefined;
    const { group } = place.resource;
    // A schema may have null in its enum.
    if (!isBuiltIn(group) || group === "apiextensions.k8s.io") return undefined;
    const at = nullItem(change.content);
    return at === undefined
      ? undefined
      : `content.${at} of ${formatRef(place)} is null, and a list can have no null: remove it`;
  },
  (txn) => {
    const written = appliedChanges(txn);
    return (index, place) => {
      const change = txn.spec.changes[index];
      const said = asObject(asObject(written[index])["content"]);
      if (change?.type !== "Patch" || change.isApply === true || place === undefined) return undefined;
      const at = lostNull(said, change.content);
      // The annotation says nothing of another content, such as that of a Draft that was edited since.
      return at === undefined || canonical(withoutNulls(said)) !== canonical(withoutNulls(change.content))
        ? undefined
        : `content.${at} of ${formatRef(place)} was null, and a client-side kubectl apply leaves out what is null, so that nothing would be removed: create the Transaction with kubectl janus apply, kubectl create or kubectl apply --server-side`;
    };
  },
  (txn) => (index) => {
    const change = txn.spec.changes[index];
    return change?.type === "Delete" &&
      change.target.kind === "Namespace" &&
      change.target.name === txn.metadata.namespace
      ? `the Transaction would delete its own namespace ${txn.metadata.namespace}: create it in another namespace`
      : undefined;
  },
  ({ spec }) =>
    (index) => {
      const change = spec.changes[index];
      return change?.type === "Delete" &&
        groupOf(change.target.apiVersion) === "apiextensions.k8s.io" &&
        change.target.name === CRD_NAME
        ? `the Transaction would delete ${CRD_NAME}, and with it all Transactions: uninstall Janus instead`
        : undefined;
    },
  (txn) => {
    const last = txn.spec.changes.findLastIndex((_, index) => !isIrreversible(txn.spec.changes[index]));
    return (index) =>
      isIrreversible(txn.spec.changes[index]) && index < last
        ? `the deletion of a ${txn.spec.changes[index]?.target.kind} cannot be undone: ${TO_THE_END}`
        : undefined;
  },
  (txn) => (index, place) => {
    const change = txn.spec.changes[index];
    if (change === undefined || place === undefined || !mayCreate(change)) return undefined;
    // Measured: it answers 500 to the creation, as if the object were a list.
    return change.type !== "Delete" && Array.isArray(change.content["items"]) && !isBuiltIn(place.resource.group)
      ? `the API server cannot create ${formatRef(place)}, since it has a list items beside its spec: create it with kubectl apply --server-side, and change it here with Patch`
      : undefined;
  },
  (txn) => (index) => {
    const change = txn.spec.changes[index];
    return change?.type === "Replace" && isIrreplaceable(change.target)
      ? `a ${change.target.kind} cannot be replaced: its deletion cannot be undone; use Apply, or delete it at the end of an earlier Transaction`
      : undefined;
  },
  (txn) => (index) => {
    const [first] = changeGateMistakes(txn, index);
    return first;
  },
  (txn) => (index) => {
    const target = txn.spec.changes[index]?.target;
    return target !== undefined && groupOf(target.apiVersion) === GROUP && target.kind === KIND
      ? "a Transaction cannot be a target: it would run again after a rollback; list its changes here instead"
      : undefined;
  },
  ({ metadata, spec }) =>
    (index, place) => {
      const change = spec.changes[index];
      return change !== undefined && place !== undefined && mayCreate(change) && isStoreOf(metadata, place)
        ? `${formatRef(place)} has a name that snapshots of this Transaction have: create a Transaction with another name`
        : undefined;
    },
];

/**
 * Room for the status of one item at its worst: names of a Lease and a store of 253 characters, a namespace of
 * 63, the target in 128, an error of 256 bytes (each may be escaped). `MAX_CHANGES` Deletes fit, with their
 * dependents: tested, so that this is no second limit on the number of changes.
 */
const ITEM_BYTES = 1600;
/** The dependents of what is deleted, as `dependents` and in a warning. */
const DELETION_BYTES = 300;
/** Bytes of what an item says while it is waited for: a gate and a state of 256 bytes (which may be escaped), and a time. */
const WAITING_BYTES = 600;
/** Room for the render of a Draft in its status. */
export const RENDER_BYTES = 64 * 1024;
const OBJECT_BYTES = 1024 * 1024;

/** The most items that are waited for at a time: one change, but at the end all, as of restored targets. */
const mostAwaited = (txn: Transaction): number => {
  const { changes, waitAt } = txn.spec;
  if (rollbackGates(txn).length > 0) return Math.min(changes.length, MOST_AWAITED_ITEMS);
  const gated = changes.filter((_, index) => isGated(txn, index)).length;
  return Math.min(gated, waitAt === "End" ? MOST_AWAITED_ITEMS : 1);
};

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** Bytes that are recorded of an object with contents, but for its name. */
const CONTENTS_BYTES = 200;

/** The bytes of the Transaction and of its status at its worst. Contents that are not in the spec do not count. */
const bytesAtWorst = (txn: Transaction): number => {
  const { metadata, spec, status } = txn;
  const written = { ...spec, changes: spec.changes.map(asWritten) };
  return (
    bytesOf([metadata, written]) +
    spec.changes.length * ITEM_BYTES +
    spec.changes.filter(deletes).length * DELETION_BYTES +
    mostAwaited(txn) * WAITING_BYTES +
    contentsNames(txn).reduce((sum, name) => sum + CONTENTS_BYTES + name.length, 0) +
    (spec.lifecycle === "Published" && status.render === undefined ? 0 : RENDER_BYTES)
  );
};

/** How many bytes of a Transaction are too many for an object with the status that it may get; at most 0: none. */
export const surplusBytes = (txn: Transaction): number => bytesAtWorst(txn) - OBJECT_BYTES;

const MOST_NAMED = 3;

/** The changes that take most of it. */
const largest = ({ spec }: Transaction): string =>
  spec.changes
    .map((change, index) => ({ index, target: change.target, bytes: bytesOf(asWritten(change)) }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_NAMED)
    .map(
      ({ index, target, bytes }) =>
        `changes[${index}] (${target.kind} ${cut(target.name, 64)}, ${Math.ceil(bytes / 1024)} KiB)`,
    )
    .join(", ");

const tooLarge = (txn: Transaction): string | undefined => {
  const size = bytesAtWorst(txn);
  return size <= OBJECT_BYTES
    ? undefined
    : `the Transaction is too large to keep its own status (${Math.ceil(size / 1024)} of 1024 KiB): put the contents of its largest changes into ConfigMaps or Secrets (contentFrom), as kubectl janus apply does, or split it into smaller Transactions; the largest are ${largest(txn)}`;
};

/** Problems of a Transaction, beyond what the API server sees. */
export interface SpecProblems {
  readonly general: readonly string[];
  /** Problems by change. */
  readonly problems: ReadonlyMap<number, readonly string[]>;
}

/** Assumes: all kinds have been discovered. */
export const specProblems = (txn: Transaction, known: Observations): SpecProblems => {
  // Nothing else looks into it: that would overflow the stack.
  if (isTooDeep([txn.metadata, txn.spec]))
    return { general: [`the Transaction ${TOO_DEEP}: flatten what its changes contain`], problems: new Map() };
  const checking = checks.map((check) => check(txn, known));
  const problems = new Map(
    txn.spec.changes.flatMap((_, index) => {
      const found = checking.flatMap((check) => check(index, resolvedTargets(txn, known).get(index)) ?? []);
      return found.length === 0 ? [] : [[index, found] as const];
    }),
  );
  const large = tooLarge(txn);
  return { general: [...(large === undefined ? [] : [large]), ...gateMistakes(txn)], problems };
};
