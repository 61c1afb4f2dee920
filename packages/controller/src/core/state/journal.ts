// The journal of a Transaction: a ConfigMap that records its progress after every window of changes.
import {
  type Before,
  type ItemState,
  journalName,
  MAX_CHANGES,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  SnapshotStore,
  type Transaction,
  TRANSACTION_LABEL,
  transactionLabel,
  UID_LABEL,
} from "@janus/api";

import { ofLater, unknownKeys } from "./format.ts";
import { type Instant, asObject, type JsonObject, type KubeObject, parseJson } from "@janus/types";
import { configMaps, type ObjectRef, type Version } from "../kubernetes/kube-object.ts";

/**
 * The progress of a Transaction: one small object that is written after every window of changes, whatever their number.
 * That write is both the checkpoint of one window and the intent of the next.
 *
 * forward: changes before `cursor` are applied; those from `cursor` up to before `until` may have been sent, one after the other,
 *          each after the answer to the one before. Of a Replace, `replaced` tells that it is half
 *          applied: its target is gone, and its create may be in flight. With `gatedSince` it is not: since then, the
 *          gates before it (`gatedChanges`) have not been met. With `gatesInDoubt` the journal was lost: only a change
 *          that was applied after them shows that they were.
 * back: changes from `reached` on were never applied; those after `cursor` are settled (restored, unless noted
 *          otherwise) or deferred; the one at `cursor`, and those of a window before it, may be restored, or their rollback
 *          in flight, as that of deferred ones.
 *          That of the one at `cursor` began at `since`. With `restoredAt` everything is restored, since then, and
 *          `rollbackWaitFor` is waited for.
 */
export interface Journal {
  readonly version: Version;
  readonly position: Position;
  /** Uids of objects that changes created, or that rollback created again, by change. */
  readonly created: ReadonlyMap<number, string>;
  /** The uid of what has replaced the former object of a Replace, once that is gone; empty while it is not recorded. */
  readonly replaced: ReadonlyMap<number, string>;
  /** How changes ended that are neither applied nor simply restored. */
  readonly notes: ReadonlyMap<number, Note>;
  /**
   * How many names of stores may have been written, counted from the first; recorded before they are. So every
   * store of a former process is found, even if earlier names are free by then.
   */
  readonly storeNames: number;
  /** Changes of which it is unknown whether they were applied, and whose rollback is retried. */
  readonly doubted: ReadonlyMap<number, true>;
  /** Changes whose rollback is deferred. */
  readonly deferred: ReadonlyMap<number, Deferral>;
  /** Snapshots that were taken again because other fields of the target had changed, by change. */
  readonly renewed: ReadonlyMap<number, Renewed>;
  /** Set where the cursor is ahead of what is recorded: from this change on it is only known to this process. */
  readonly ahead?: Ahead;
}

/**
 * Forward: changes of the window that were answered since it was recorded, from `from` up to before the cursor, with the uids of what
 * they created. Back: changes that were restored since, from `from` down to after the cursor.
 */
export interface Ahead {
  readonly from: number;
  readonly created: ReadonlyMap<number, string>;
}

/** Its `direction` is what tells the one from the other in the data of the journal, too. */
export type Position =
  | Forward
  | {
      readonly direction: "back";
      readonly cursor: number;
      readonly reached: number;
      readonly since: Instant;
      readonly restoredAt?: Instant;
    };

export interface Forward {
  readonly direction: "forward";
  readonly cursor: number;
  /** The end of the window: changes from the cursor up to before it may have been sent. Default: the one at the cursor. */
  readonly until?: number;
  readonly gatedSince?: Instant;
  readonly gatesInDoubt?: true;
}

/** The ends of a change after which nothing is left to do. */
const SETTLED = ["rejected", "unknown", "rollback-failed", "restored"] as const;

export interface Note {
  readonly type: (typeof SETTLED)[number];
  /** Empty if there is none. */
  readonly error: string;
  /**
   * Changes that deleted its owners and were still to be rolled back: only then the owner references are
   * restored.
   */
  readonly owners?: readonly number[];
  /** An object that was left there on purpose is deleted only on request: somebody may have come to rely on it. */
  readonly retryOnRequest?: true;
}

/** A change whose rollback has to wait. It is deferred, so that the others need not wait for it. */
export interface Deferral {
  /** Names what it waits for. */
  readonly error: string;
  /** When its rollback began. */
  readonly since: Instant;
  /**
   * It waits for all that were deferred before it: it depends on one of them, or was rejected, perhaps because
   * of one.
   */
  readonly isBehind?: true;
}

export interface Renewed {
  readonly before: Extract<Before, { existed: true }>;
  readonly stores: readonly SnapshotStore[];
}

/** An update of the journal; absent fields stay. */
export interface Entry {
  readonly position?: Position;
  readonly created?: ReadonlyMap<number, string>;
  readonly replaced?: readonly [index: number, uid: string];
  readonly notes?: ReadonlyMap<number, Note>;
  readonly deferred?: readonly [index: number, deferral: Deferral];
  readonly renewed?: readonly [index: number, renewed: Renewed];
  readonly storeNames?: number;
  /** A deferred change that is settled now. */
  readonly resumed?: number;
  readonly doubted?: readonly number[];
  /** Changes whose notes are removed. */
  readonly unnoted?: readonly number[];
}

/** A journal that does not exist: everything is as it is recorded in the status. */
export const noJournal = (position: Position): Journal => ({
  version: { uid: "", resourceVersion: "" },
  position,
  created: new Map(),
  replaced: new Map(),
  notes: new Map(),
  doubted: new Map(),
  deferred: new Map(),
  renewed: new Map(),
  storeNames: 0,
});

export const journalPlace = (txn: Transaction): ObjectRef => ({
  resource: configMaps,
  namespace: txn.metadata.namespace,
  name: journalName(txn.metadata.uid),
});

const encode = (entry: Entry): Readonly<Record<string, string | null>> => ({
  ...Object.fromEntries((entry.unnoted ?? []).map((index) => [`note-${index}`, null])),
  ...(entry.position === undefined ? {} : { position: JSON.stringify(entry.position) }),
  ...Object.fromEntries([...(entry.created ?? [])].map(([index, uid]) => [`created-${index}`, uid])),
  ...(entry.replaced === undefined ? {} : { [`replaced-${entry.replaced[0]}`]: entry.replaced[1] }),
  ...Object.fromEntries([...(entry.notes ?? [])].map(([index, note]) => [`note-${index}`, JSON.stringify(note)])),
  ...(entry.storeNames === undefined ? {} : { "store-names": JSON.stringify(entry.storeNames) }),
  ...(entry.deferred === undefined ? {} : { [`deferred-${entry.deferred[0]}`]: JSON.stringify(entry.deferred[1]) }),
  ...Object.fromEntries((entry.doubted ?? []).map((index) => [`doubted-${index}`, "true"])),
  ...(entry.resumed === undefined ? {} : { [`deferred-${entry.resumed}`]: null }),
  ...(entry.renewed === undefined ? {} : { [`renewed-${entry.renewed[0]}`]: JSON.stringify(entry.renewed[1]) }),
});

const journalData = (entry: Entry): object => ({ data: encode(entry) });

/** The beginning of a journal. Where it was lost: what was found of the changes. */
export interface Start extends Pick<Partial<Journal>, "created" | "replaced" | "notes"> {
  readonly position: Position;
  /** As {@link Journal.doubted}. */
  readonly doubted?: readonly number[];
}

export const startData = (
  { position, created = new Map(), replaced = new Map(), notes = new Map(), doubted = [] }: Start,
  storeNames: number,
): object => ({
  data: Object.assign(
    encode({ position, storeNames, created, notes, doubted }),
    ...[...replaced].map((one) => encode({ replaced: one })),
  ) as object,
});

export const newJournal = (txn: Transaction, start: Start, storeNames: number): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: journalName(txn.metadata.uid),
    namespace: txn.metadata.namespace,
    labels: {
      [MANAGED_BY_LABEL]: MANAGED_BY,
      [TRANSACTION_LABEL]: transactionLabel(txn.metadata.name),
      [UID_LABEL]: txn.metadata.uid,
    },
  },
  ...startData(start, storeNames),
});

export const journalPatch = (journal: Journal, entry: Entry): object => ({
  metadata: { resourceVersion: journal.version.resourceVersion, uid: journal.version.uid },
  ...journalData(entry),
});

const KEYS = /^(?:position|store-names|(?:created|replaced|note|doubted|deferred|renewed)-\d+)$/u;

const parsed = (text: unknown): unknown => (typeof text === "string" ? parseJson(text) : undefined);

/** The fields of the values that are objects, by what their key begins with. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  position: ["direction", "cursor", "until", "reached", "since", "gatedSince", "gatesInDoubt", "restoredAt"],
  note: ["type", "error", "owners", "retryOnRequest"],
  deferred: ["error", "since", "isBehind"],
  renewed: ["before", "stores"],
};

/** Whether the value of one of these fields has a meaning that this version does not know. */
const isUnknownTag = (field: string, value: unknown): boolean =>
  typeof value === "string" &&
  ((field === "type" && !isSettled(value)) || (field === "direction" && value !== "forward" && value !== "back"));

/** The parts of a value that this version would drop, or take for something else. */
const unknownParts = ([key, text]: readonly [string, unknown]): readonly string[] => {
  const known = FIELDS[key.replace(/-\d+$/u, "")] ?? [];
  return known.length === 0
    ? []
    : Object.entries(asObject(parsed(text)))
        .filter(([field, value]) => !known.includes(field) || isUnknownTag(field, value))
        .map(([field]) => `${field} of ${key}`);
};

/** Why a journal is neither read nor overwritten: a later version of the controller wrote it. */
export const laterJournal = (txn: Transaction, object: KubeObject): string | undefined =>
  ofLater("journal", journalPlace(txn), object, (data) => [
    ...unknownKeys(data, KEYS),
    ...Object.entries(data).flatMap(unknownParts),
  ]);

const decodePosition = (value: JsonObject, changes: number): Position | undefined => {
  const { direction, cursor, until, reached, since, gatedSince, gatesInDoubt, restoredAt } = value;
  const within = (at: unknown, from: number): at is number =>
    typeof at === "number" && Number.isInteger(at) && at >= from && at <= changes;
  if (direction === "forward" && within(cursor, 0) && (until === undefined || within(until, cursor + 1)))
    return {
      direction,
      cursor,
      ...(until === undefined ? {} : { until }),
      ...(typeof gatedSince === "number" && cursor > 0 ? { gatedSince } : {}),
      ...(gatesInDoubt === true ? { gatesInDoubt } : {}),
    };
  if (direction === "back" && within(cursor, -1) && within(reached, cursor + 1) && typeof since === "number")
    return { direction, cursor, reached, since, ...(typeof restoredAt === "number" ? { restoredAt } : {}) };
  return undefined;
};

/** The values under `<prefix><index>`, for this many changes. */
const byIndex = <A>(
  data: JsonObject,
  changes: number,
  prefix: string,
  decode: (text: unknown) => A | undefined,
): ReadonlyMap<number, A> =>
  new Map(
    Object.entries(data).flatMap(([key, text]) => {
      const index = Number(key.slice(prefix.length));
      const isOne = key === `${prefix}${index}` && Number.isInteger(index) && index >= 0 && index < changes;
      const value = isOne ? decode(text) : undefined;
      return value === undefined ? [] : [[index, value] as const];
    }),
  );

const isSettled = (type: unknown): type is Note["type"] => SETTLED.some((settled) => settled === type);

const decodeNote = (text: unknown): Note | undefined => {
  const { type, error, owners, retryOnRequest } = asObject(parsed(text));
  if (!isSettled(type) || typeof error !== "string") return undefined;
  const isOwners = Array.isArray(owners) && owners.every(Number.isInteger);
  return {
    type,
    error,
    ...(isOwners ? { owners: owners as readonly number[] } : {}),
    ...(retryOnRequest === true ? { retryOnRequest } : {}),
  };
};

const decodeDeferral = (text: unknown): Deferral | undefined => {
  const { error, since, isBehind } = asObject(parsed(text));
  if (typeof error !== "string" || typeof since !== "number") return undefined;
  return { error, since, ...(isBehind === true ? { isBehind } : {}) };
};

const isText = (value: unknown): value is string => typeof value === "string";

const decodeRenewed = (text: unknown): Renewed | undefined => {
  const { before, stores } = asObject(parsed(text));
  const { uid, resourceVersion, snapshot } = asObject(before);
  const { store, key } = asObject(snapshot);
  if (!isText(uid) || !isText(resourceVersion) || !isText(store) || !isText(key)) return undefined;
  if (!Array.isArray(stores) || !stores.every(SnapshotStore.is)) return undefined;
  return { before: { existed: true, uid, resourceVersion, snapshot: { store, key } }, stores };
};

/**
 * The maximum number of store names of a Transaction, whatever other clients have written into its journal. A
 * target of 1.5 MiB takes two stores, and twice two if its snapshot is taken again; the rest is for leftovers of
 * former Transactions of its name.
 */
export const mostStoreNames = (changes: number): number => 100 + 6 * (changes || MAX_CHANGES);

/** The number of store names, also of an object that is no longer a valid journal. */
export const decodeStoreNames = (object: KubeObject, changes: number): number => {
  const count = parsed(asObject(object["data"])["store-names"]);
  return typeof count === "number" && Number.isInteger(count) && count > 0
    ? Math.min(count, mostStoreNames(changes))
    : 0;
};

/** `undefined` if it is not a journal of a Transaction with this many changes: then it counts as missing. */
export const decodeJournal = (object: KubeObject, changes: number): Journal | undefined => {
  const data = asObject(object["data"]);
  const position = decodePosition(asObject(parsed(data["position"])), changes);
  const { uid, resourceVersion } = object.metadata;
  if (position === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return {
    version: { uid, resourceVersion },
    position,
    storeNames: decodeStoreNames(object, changes),
    created: byIndex(data, changes, "created-", (text) => (typeof text === "string" ? text : undefined)),
    replaced: byIndex(data, changes, "replaced-", (text) => (typeof text === "string" ? text : undefined)),
    notes: byIndex(data, changes, "note-", decodeNote),
    doubted: byIndex(data, changes, "doubted-", (text) => (text === "true" ? true : undefined)),
    deferred: byIndex(data, changes, "deferred-", decodeDeferral),
    renewed: byIndex(data, changes, "renewed-", decodeRenewed),
  };
};

/** The state before a change as the status records it. */
export const beforeOf = (state: ItemState): Before => ("before" in state ? state.before : { existed: false });

/** The state before a change; a snapshot that was taken again replaces the first one. */
export const beforeIn = (recorded: ItemState, index: number, { renewed }: Journal): Before => {
  const first = beforeOf(recorded);
  const anew = renewed.get(index)?.before;
  if (anew === undefined) return first;
  if (!first.existed || !anew.existed) return anew;
  const { dependents, isIrreversible } = first;
  return {
    ...anew,
    ...(dependents === undefined ? {} : { dependents }),
    ...(isIrreversible === undefined ? {} : { isIrreversible }),
  };
};

/** The owner references that are missing because the owners could not be restored. */
const withoutOwners = ({ owners = [] }: Note, { notes }: Journal): readonly string[] => {
  const lost = owners.filter((index) => ["rollback-failed", "unknown"].includes(notes.get(index)?.type ?? ""));
  return lost.length === 0
    ? []
    : [
        `its owner was not restored (${lost.map((index) => `changes[${index}]`).join(", ")}): the owner reference is missing`,
      ];
};

/** The uid of what has replaced the target; empty if that is not there yet, or not recorded. Undefined: it was not deleted. */
export const replacementOf = ({ replaced }: Journal, index: number): string | undefined => replaced.get(index);

/** The number of changes of which it is recorded that they are in. */
const recordedCursor = ({ ahead, position }: Journal): number => ahead?.from ?? position.cursor;

/** The end of the window: the changes before it may have been sent. */
export const windowEnd = ({ cursor, until = cursor + 1 }: Forward): number => until;

/** Whether it covers more than the change at the cursor, or progress that is not recorded. */
export const isOpen = ({ position, ahead }: Journal): boolean =>
  position.direction === "forward" && (ahead !== undefined || position.until !== undefined);

/**
 * The journal with the changes of its window that were answered since it was written. The last one of the window is left: that it is
 * in is recorded next.
 *
 * @param made the uid of what a change created, if it was answered and bears our mark: empty if it created nothing
 */
export const advanced = (journal: Journal, made: (index: number) => string | undefined): Journal => {
  const { position } = journal;
  if (position.direction !== "forward") return journal;
  const created = new Map<number, string>();
  let { cursor } = position;
  for (let uid = made(cursor); uid !== undefined && cursor + 1 < windowEnd(position); uid = made(cursor)) {
    if (uid !== "") created.set(cursor, uid);
    cursor += 1;
  }
  return cursor === position.cursor
    ? journal
    : {
        ...journal,
        position: { ...position, cursor },
        created: new Map([...journal.created, ...created]),
        ahead: { from: position.cursor, created },
      };
};

/**
 * The journal of a rollback, without the changes that were restored since it was written.
 *
 * @param restored when a change was restored by this process, if it was
 */
export const receded = (journal: Journal, restored: (index: number) => Instant | undefined): Journal => {
  const { position } = journal;
  if (position.direction !== "back") return journal;
  let { cursor, since } = position;
  for (let at = restored(cursor); at !== undefined; at = restored(cursor)) {
    since = at;
    cursor -= 1;
  }
  return cursor === position.cursor
    ? journal
    : { ...journal, position: { ...position, cursor, since }, ahead: { from: position.cursor, created: new Map() } };
};

/** The journal as it would be if it recorded that this change is in, and those before it. */
export const asRecorded = (journal: Journal, index: number, created: string | undefined): Journal => {
  const { ahead: _, ...recorded } = journal;
  return {
    ...recorded,
    position: { direction: "forward", cursor: index + 1 },
    created: created === undefined ? recorded.created : new Map([...recorded.created, [index, created]]),
  };
};

/** The state of a change according to the journal, on top of the recorded status. */
export const stateOf = (recorded: ItemState, index: number, journal: Journal): ItemState => {
  const before = beforeIn(recorded, index, journal);
  const uid =
    journal.created.get(index) ||
    replacementOf(journal, index) ||
    ("created" in recorded ? recorded.created : undefined);
  const created = uid === undefined ? {} : { created: uid };
  const { position } = journal;
  const note = journal.notes.get(index);
  if (note?.type === "restored") {
    const error = [note.error === "" ? [] : note.error, ...withoutOwners(note, journal)].flat().join("; ");
    return { type: "restored", before, ...created, ...(error === "" ? {} : { error }) };
  }
  if (note !== undefined)
    return { type: note.type, before, ...(note.type === "rollback-failed" ? created : {}), error: note.error };
  if (isSettled(recorded.type)) return recorded;
  if (position.direction === "forward")
    return index < recordedCursor(journal) || journal.replaced.has(index)
      ? { type: "committed", before, ...created }
      : { type: "prepared", before };
  if (index >= position.reached) return { type: "prepared", before };
  return index > position.cursor && !journal.deferred.has(index)
    ? { type: "restored", before, ...created }
    : { type: "committed", before, ...created };
};

/** The state of a change: what the journal says, or what the status has recorded of its end. */
export const itemState = ({ status: { items } }: Transaction, index: number, journal: Journal): ItemState =>
  stateOf(items[index]?.state ?? { type: "untouched" }, index, journal);

/** No time in it is later than now, when it was read: the clock of the process that wrote it may be ahead of this one's. */
export const notAhead = (position: Position, now: Instant): Position => {
  if (position.direction === "forward")
    return position.gatedSince === undefined
      ? position
      : { ...position, gatedSince: Math.min(position.gatedSince, now) };
  const since = Math.min(position.since, now);
  return position.restoredAt === undefined
    ? { ...position, since }
    : { ...position, since, restoredAt: Math.min(position.restoredAt, now) };
};

/** The uid of the target since the change, or its rollback; empty where there is no target. */
export const uidOf = (state: ItemState): string => {
  if ("created" in state && state.created !== undefined) return state.created;
  const before = beforeOf(state);
  return before.existed ? before.uid : "";
};

/** The journal was lost: whether the gates of the change before the cursor were met is not known. */
export const gatesInDoubt = ({ position }: Journal): boolean =>
  position.direction === "forward" && position.gatesInDoubt === true;

/** The time since when the gates before the cursor are waited for; undefined while a change may be in flight. */
export const gatedSince = ({ position }: Journal): Instant | undefined =>
  position.direction === "forward" ? position.gatedSince : undefined;
