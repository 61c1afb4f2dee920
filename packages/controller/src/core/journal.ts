import {
  type Before,
  type ItemState,
  journalName,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  SnapshotStore,
  type Transaction,
  TRANSACTION_LABEL,
  transactionLabel,
} from "@janus/api";

import type { Instant } from "./instant.ts";
import { asObject } from "./json.ts";
import { configMaps, type JsonObject, type KubeObject, type Place, type Version } from "./object.ts";

/**
 * How far a Transaction has come: the one small object that is written after every change, whatever their number. That
 * write is both the checkpoint of one change and the intent of the next.
 *
 * forward: changes before `cursor` are in; the one at `cursor` may be on its way.
 * back:    changes from `reached` on were never made; those after `cursor` are settled (restored, unless noted
 *          otherwise); the restoring of the one at `cursor` may be on its way. It began at `since`.
 */
export interface Journal {
  readonly version: Version;
  readonly position: Position;
  /** Uids of objects that changes created, or that rollback created again, by change. */
  readonly created: ReadonlyMap<number, string>;
  /** How changes ended that are neither in nor simply restored. */
  readonly notes: ReadonlyMap<number, Note>;
  /** Snapshots that were taken anew because a target had changed in other fields, by change. */
  readonly renewed: ReadonlyMap<number, Renewed>;
}

export type Position =
  | { readonly direction: "forward"; readonly cursor: number }
  | { readonly direction: "back"; readonly cursor: number; readonly reached: number; readonly since: Instant };

export interface Note {
  readonly at: "unmade" | "undecided" | "kept" | "restored";
  readonly error: string;
}

export interface Renewed {
  readonly before: Extract<Before, { existed: true }>;
  readonly stores: readonly SnapshotStore[];
}

/** A change of the journal; what is absent stays. */
export interface Entry {
  readonly position?: Position;
  readonly created?: readonly [index: number, uid: string];
  readonly note?: readonly [index: number, note: Note];
  readonly renewed?: readonly [index: number, renewed: Renewed];
  /** Changes whose notes are taken back. */
  readonly unnoted?: readonly number[];
}

export const journalPlace = (txn: Transaction): Place => ({
  resource: configMaps,
  namespace: txn.metadata.namespace,
  name: journalName(txn.metadata.uid),
});

const encode = (entry: Entry): Readonly<Record<string, string | null>> => ({
  ...Object.fromEntries((entry.unnoted ?? []).map((index) => [`note-${index}`, null])),
  ...(entry.position === undefined ? {} : { position: JSON.stringify(entry.position) }),
  ...(entry.created === undefined ? {} : { [`created-${entry.created[0]}`]: entry.created[1] }),
  ...(entry.note === undefined ? {} : { [`note-${entry.note[0]}`]: JSON.stringify(entry.note[1]) }),
  ...(entry.renewed === undefined ? {} : { [`renewed-${entry.renewed[0]}`]: JSON.stringify(entry.renewed[1]) }),
});

export const journalData = (entry: Entry): object => ({ data: encode(entry) });

export const newJournal = (txn: Transaction, position: Position): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: journalName(txn.metadata.uid),
    namespace: txn.metadata.namespace,
    labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [TRANSACTION_LABEL]: transactionLabel(txn.metadata.name) },
  },
  ...journalData({ position }),
});

export const journalPatch = (journal: Journal, entry: Entry): object => ({
  metadata: { resourceVersion: journal.version.resourceVersion, uid: journal.version.uid },
  ...journalData(entry),
});

const parsed = (text: unknown): unknown => {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};

const decodePosition = (value: JsonObject, changes: number): Position | undefined => {
  const { direction, cursor, reached, since } = value;
  const within = (at: unknown, from: number): at is number =>
    typeof at === "number" && Number.isInteger(at) && at >= from && at <= changes;
  if (direction === "forward" && within(cursor, 0)) return { direction, cursor };
  if (direction === "back" && within(cursor, -1) && within(reached, cursor + 1) && typeof since === "number")
    return { direction, cursor, reached, since };
  return undefined;
};

/** What is under `<prefix><index>`, for each of so many changes. */
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

const NOTED: readonly unknown[] = ["unmade", "undecided", "kept", "restored"];

const decodeNote = (text: unknown): Note | undefined => {
  const { at, error } = asObject(parsed(text));
  return NOTED.includes(at) && typeof error === "string" ? { at: at as Note["at"], error } : undefined;
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

/** `undefined` for what is no journal of a Transaction with so many changes: it counts as missing. */
export const decodeJournal = (object: KubeObject, changes: number): Journal | undefined => {
  const data = asObject(object["data"]);
  const position = decodePosition(asObject(parsed(data["position"])), changes);
  const { uid, resourceVersion } = object.metadata;
  if (position === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return {
    version: { uid, resourceVersion },
    position,
    created: byIndex(data, changes, "created-", (text) => (typeof text === "string" ? text : undefined)),
    notes: byIndex(data, changes, "note-", decodeNote),
    renewed: byIndex(data, changes, "renewed-", decodeRenewed),
  };
};

const beforeOf = (state: ItemState): Before => ("before" in state ? state.before : { existed: false });

/** What there was before a change; a snapshot that was taken anew goes before the first one. */
export const beforeIn = (recorded: ItemState, index: number, { renewed }: Journal): Before => {
  const first = beforeOf(recorded);
  const anew = renewed.get(index)?.before;
  if (anew === undefined) return first;
  return first.existed && first.dependents !== undefined ? { ...anew, dependents: first.dependents } : anew;
};

const SETTLED: readonly string[] = ["unmade", "undecided", "kept", "restored"];

/** What the journal says of one change, on top of what the status recorded of it. */
export const stateOf = (recorded: ItemState, index: number, journal: Journal): ItemState => {
  const before = beforeIn(recorded, index, journal);
  const uid = journal.created.get(index) ?? ("created" in recorded ? recorded.created : undefined);
  const created = uid === undefined ? {} : { created: uid };
  const { position } = journal;
  const note = journal.notes.get(index);
  if (note !== undefined)
    return { at: note.at, before, ...(note.at === "kept" || note.at === "restored" ? created : {}), error: note.error };
  if (SETTLED.includes(recorded.at)) return recorded;
  if (position.direction === "forward")
    return index < position.cursor ? { at: "committed", before, ...created } : { at: "prepared", before };
  if (index >= position.reached) return { at: "prepared", before };
  return index > position.cursor ? { at: "restored", before, ...created } : { at: "committed", before, ...created };
};
