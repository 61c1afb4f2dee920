// Builds status updates: phase transitions, items, and the request that writes them.
import {
  groupOf,
  APPROVED_BY,
  cut,
  FINALIZER,
  type Item,
  type Phase,
  REQUESTED_BY,
  Status,
  type Transaction,
  RETRY_ROLLBACK,
  transactions,
} from "@janus/api";
import { type ConditionCause, conditions, type Healthy } from "./conditions.ts";
import type { Reversibility } from "./rollback-window.ts";
import type { ApiCall, EventSpec } from "./effect.ts";
import type { Fold } from "./fold.ts";
import { showGates } from "../gates/gate.ts";
import { gatesOf } from "../gates/gates-of.ts";
import { type Instant, toTimestamp, asObject, isObject, type JsonObject, member } from "@janus/types";
import { mustConceal, type Sensitive } from "./sensitive-kinds.ts";
import { gatedChanges } from "./gated-changes.ts";
import { gatedSince, type Journal, stateOf } from "./journal.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";

export const TERMINAL: readonly Phase[] = ["Committed", "RolledBack", "Failed"];
export const isTerminal = (phase: Phase): boolean => TERMINAL.includes(phase);

/** The most bytes of each text for which an item has room. */
const MAX_MESSAGE = 256;

export const ownPlace = (txn: Transaction): ObjectRef => ({
  resource: transactions,
  namespace: txn.metadata.namespace,
  name: txn.metadata.name,
});

/** The fields that a status update changes; absent fields stay. */
export interface StatusChange
  extends Partial<Omit<Status, "version" | "conditions" | "progress" | "observedGeneration">> {
  readonly because: ConditionCause;
  readonly healthy?: Healthy;
  readonly reversible?: Reversibility;
  /** Its journal and snapshots are deleted, or about to be: it is Committed, and cannot be rolled back. */
  readonly isFinal?: true;
}

const withoutSnapshot = (item: Item): Item => {
  const { state } = item;
  if (!("before" in state) || !state.before.existed) return item;
  const { snapshot: _, ...before } = state.before;
  return { ...item, state: { ...state, before } };
};

/** It names its journal and its snapshots no longer. */
const withoutSnapshots = (status: Status): Status => {
  const { journal: _, rollbackRef: __, ...rest } = status;
  return { ...rest, snapshots: [], items: status.items.map(withoutSnapshot) };
};

/** Removes `reversibleUntil`: what is Committed no longer has locks again, as it is rolled back. */
const withoutWindow = (status: Status): Status => {
  const { reversibleUntil: _, ...rest } = status;
  return rest;
};

/** A merge patch, in which what is left out stays, at every depth: what is no longer there is removed. Lists are replaced. */
const patchOf = (before: JsonObject, after: JsonObject): JsonObject => ({
  ...Object.fromEntries(Object.keys(before).map((name) => [name, null])),
  ...Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      const was = member(before, name);
      return [name, isObject(was) && isObject(value) ? patchOf(was, value) : value];
    }),
  ),
});

const asPatch = (before: Status, after: Status): object =>
  patchOf(asObject(Status.encode(before)), asObject(Status.encode(after)));

const IN: readonly string[] = ["committed", "rollback-failed"];

const BACK: readonly Phase[] = ["RollingBack", "RolledBack", "Failed"];

/** A change counts when it is applied and its gates are met; on the way back, as long as it is applied. */
const progress = (phase: Phase, items: readonly Item[], changes: number): string => {
  const isDone = ({ state, waiting }: Item): boolean =>
    IN.includes(state.type) && (waiting === undefined || BACK.includes(phase));
  return `${items.filter(isDone).length}/${changes}`;
};

/** The gates that are waited for, and the state of the target, until that is over; before it was looked at, the gates alone. */
const waitingOf = (txn: Transaction, journal: Journal, index: number, sensitive: Sensitive): Pick<Item, "waiting"> => {
  const recorded = txn.status.items[index]?.waiting;
  const { position } = journal;
  if (position.direction === "back")
    return recorded === undefined || position.restoredAt === undefined ? {} : { waiting: recorded };
  const since = gatedSince(journal);
  if (since === undefined || !gatedChanges(txn, position.cursor).includes(index)) return {};
  // Of several, those that are left out have met theirs.
  if (recorded === undefined && txn.status.items.some(({ waiting }) => waiting !== undefined)) return {};
  const change = txn.spec.changes[index];
  const { apiVersion = "", kind = "" } = change?.target ?? {};
  const conceals = mustConceal({ group: groupOf(apiVersion), kind }, change, sensitive);
  const gate = cut(showGates(gatesOf(txn, index), conceals), MAX_MESSAGE);
  return { waiting: recorded ?? { gate, since: toTimestamp(since) } };
};

/** The items according to the journal. */
export const projected = (txn: Transaction, journal: Journal, sensitive: Sensitive): readonly Item[] =>
  txn.status.items.map((item, index) => {
    const { waiting: _, ...rest } = item;
    return { ...rest, ...waitingOf(txn, journal, index, sensitive), state: stateOf(item.state, index, journal) };
  });

/** Names the target from the spec alone, where the kind is not known. */
const nameOf = ({ target }: Transaction["spec"]["changes"][number]): string =>
  `${target.kind} ${target.namespace === undefined ? "" : `${target.namespace}/`}${target.name}`;

const withTargets = (items: readonly Item[], changes: Transaction["spec"]["changes"]): readonly Item[] =>
  items.map((item, index) => {
    const change = changes[index];
    return item.target === undefined && change !== undefined ? { ...item, target: nameOf(change) } : item;
  });

/** The users who created and approved it, as first recorded: annotations may be edited afterwards. */
const usersOf = ({ metadata: { annotations = {} }, spec, status }: Transaction): Partial<Status> => {
  const requestedBy = status.requestedBy ?? annotations[REQUESTED_BY];
  const approvedBy = status.approvedBy ?? (spec.lifecycle === "Published" ? annotations[APPROVED_BY] : undefined);
  return {
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  };
};

const BEFORE_PREPARED: readonly Phase[] = ["Pending", "Preparing", "Failed"];

/** Removes the differences of a render to save space: once it is Prepared, it is no longer compared with what was approved. */
const withoutDraft = (status: Status, phase: Phase): Status => {
  const { observedDraft, render, ...rest } = status;
  const kept = phase === "Pending" && observedDraft !== undefined ? { observedDraft } : {};
  if (render === undefined) return { ...rest, ...kept };
  if (BEFORE_PREPARED.includes(phase)) return { ...rest, ...kept, render };
  const { changes, ...summary } = render;
  const bare = changes?.map((change) => {
    const { diff: _, more: __, ...left } = change;
    return left;
  });
  return { ...rest, ...kept, render: { ...summary, ...(bare === undefined ? {} : { changes: bare }) } };
};

/** Updates the status, if the Transaction is unmodified; with an event if the phase changes. */
export const updateStatus = (
  txn: Transaction,
  change: StatusChange,
  now: Instant,
  ...events: readonly EventSpec[]
): ApiCall => {
  const { because, healthy, reversible, isFinal, ...fields } = change;
  const phase = fields.phase ?? txn.status.phase;
  const items = withTargets(fields.items ?? txn.status.items, txn.spec.changes);
  const moves = phase !== txn.status.phase;
  const next: Status = {
    ...withoutDraft({ ...txn.status, ...fields }, phase),
    ...usersOf(txn),
    phase,
    items,
    version: txn.status.version + 1,
    observedGeneration: txn.metadata.generation,
    progress: progress(phase, items, txn.spec.changes.length),
    conditions: conditions(txn, phase, because, now, {
      ...(healthy === undefined ? {} : { healthy }),
      ...(reversible === undefined ? {} : { reversible }),
    }),
    ...(isTerminal(phase)
      ? { completedAt: moves ? toTimestamp(now) : (txn.status.completedAt ?? toTimestamp(now)) }
      : {}),
  };
  const status = isFinal === true ? withoutSnapshots(next) : phase === "Committed" ? next : withoutWindow(next);
  const bad = phase === "RollingBack" || phase === "RolledBack" || phase === "Failed";
  const moved: readonly EventSpec[] =
    phase === txn.status.phase
      ? []
      : [
          {
            type: bad ? "Warning" : "Normal",
            reason: "PhaseTransition",
            message: cut(
              `${txn.status.phase} → ${phase}: ${because.eventMessage ?? because.readyMessage ?? because.message}`,
              1024,
            ),
          },
        ];
  return {
    purpose: "record",
    as: "controller",
    call: {
      verb: "mergePatch",
      place: ownPlace(txn),
      subresource: "status",
      body: {
        metadata: { uid: txn.metadata.uid, resourceVersion: txn.metadata.resourceVersion },
        status: asPatch(txn.status, status),
      },
    },
    folds: [{ type: "status-written" }],
    events: [...events, ...moved],
  };
};

/** Deletes the Transaction, if it is unmodified. */
export const expire = (txn: Transaction, ...folds: readonly Fold[]): ApiCall => ({
  purpose: "expire",
  as: "controller",
  call: {
    verb: "delete",
    place: ownPlace(txn),
    preconditions: { uid: txn.metadata.uid, resourceVersion: txn.metadata.resourceVersion },
  },
  untilDone: true,
  folds,
});

/** Sets annotations of the Transaction, or removes them (null), if it is unmodified. */
export const annotate = (txn: Transaction, annotations: Readonly<Record<string, string | null>>): ApiCall => ({
  purpose: "annotate",
  as: "controller",
  call: {
    verb: "mergePatch",
    place: ownPlace(txn),
    body: {
      metadata: {
        uid: txn.metadata.uid,
        resourceVersion: txn.metadata.resourceVersion,
        annotations,
      },
    },
  },
  folds: [],
});

/** Removes the request to retry, once it is handled. */
export const removeAnnotation = (txn: Transaction): ApiCall => annotate(txn, { [RETRY_ROLLBACK]: null });

const finalizersOf = ({ metadata: { finalizers = [] } }: Transaction): readonly string[] => finalizers;

/** Adds our finalizer, if the Transaction is unmodified. */
export const addFinalizer = (txn: Transaction): ApiCall => setFinalizers(txn, [...finalizersOf(txn), FINALIZER]);

/** Removes our finalizer, and sets these annotations (null removes one), if the Transaction is unmodified. */
export const removeFinalizer = (txn: Transaction, annotations?: Readonly<Record<string, string | null>>): ApiCall =>
  setFinalizers(
    txn,
    finalizersOf(txn).filter((name) => name !== FINALIZER),
    annotations,
  );

const setFinalizers = (
  txn: Transaction,
  names: readonly string[],
  annotations?: Readonly<Record<string, string | null>>,
): ApiCall => ({
  purpose: "finalizer",
  as: "controller",
  call: {
    verb: "mergePatch",
    place: ownPlace(txn),
    body: {
      metadata: {
        uid: txn.metadata.uid,
        resourceVersion: txn.metadata.resourceVersion,
        finalizers: names,
        ...(annotations === undefined ? {} : { annotations }),
      },
    },
  },
  folds: [],
});
