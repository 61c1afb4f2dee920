/**
 * Keeps a Transaction together: decides which changes are its own, which files wait for its end, and when it is committed.
 */
import {
  APPROVED_BY,
  deletes,
  FROM_GIT,
  GROUP,
  type ItemState,
  LAST_EDITED_BY,
  type Phase,
  REQUESTED_BY,
  ROLLBACK_REQUESTED_BY,
  type Target,
  type Transaction,
  transactionOf,
} from "@janus/api";
import { asObject, fromTimestamp, type Instant, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import type { PendingFile } from "./batch.ts";
import { fingerprint } from "./file-content.ts";
import { type FromGit, fromGitIn } from "./from-git-annotation.ts";
import type { Touch } from "./history.ts";
import type { FilePath } from "./path.ts";

/** The sign that a change of a target has arrived: its mark, the end of an object, or only a live read. */
type Sign =
  | { readonly type: "mark" }
  | { readonly type: "end"; readonly uid: string }
  | { readonly type: "read" }
  | { readonly type: "none" };

export interface JournaledTarget {
  readonly path: FilePath;
  /** The uid of an object that it deletes. */
  readonly deletes?: string;
  /** The uid of an object that it has created. */
  readonly created?: string;
  readonly sign: Sign;
}

/** The part of a Transaction that its commit depends on. */
export interface JournaledTransaction {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly phase: Phase;
  readonly completedAt: Instant | undefined;
  readonly users: {
    readonly requestedBy?: string | undefined;
    readonly approvedBy?: string | undefined;
    readonly lastEditedBy?: string | undefined;
    readonly rollbackRequestedBy?: string | undefined;
  };
  /** The commit that the Transaction takes back, or to which it goes back. */
  readonly fromGit?: FromGit;
  /** The targets that are written to the branch. */
  readonly targets: readonly JournaledTarget[];
}

const isTouched = ({ type }: ItemState): boolean =>
  ["committed", "restored", "unknown", "rollback-failed"].includes(type);

const signOf = (phase: Phase, state: ItemState, deleted: string | undefined): Sign => {
  if (!isTouched(state)) return { type: "none" };
  if (phase !== "Committed" || state.type !== "committed") return { type: "read" };
  return deleted === undefined ? { type: "mark" } : { type: "end", uid: deleted };
};

/** @param pathOf the file of a target, in the namespace that it is in; undefined: the branch does not have it. */
export const journaledTransaction = (
  { metadata, spec, status }: Transaction,
  pathOf: (target: Target) => FilePath | undefined,
): JournaledTransaction => {
  const { namespace, name, uid, annotations = {} } = metadata;
  const fromGit = fromGitIn(annotations[FROM_GIT]);
  return {
    namespace,
    name,
    uid,
    phase: status.phase,
    completedAt: fromTimestamp(status.completedAt),
    users: {
      requestedBy: status.requestedBy ?? annotations[REQUESTED_BY],
      approvedBy: status.approvedBy ?? annotations[APPROVED_BY],
      lastEditedBy: annotations[LAST_EDITED_BY],
      rollbackRequestedBy: annotations[ROLLBACK_REQUESTED_BY],
    },
    ...(fromGit === undefined ? {} : { fromGit }),
    targets: spec.changes.flatMap(({ target, type }, at): readonly JournaledTarget[] => {
      const path = pathOf({ ...target, namespace: target.namespace ?? namespace });
      if (path === undefined) return [];
      const state: ItemState = status.items[at]?.state ?? { type: "untouched" };
      const before = "before" in state && state.before.existed ? state.before.uid : undefined;
      return [
        {
          path,
          ...(deletes({ type }) && before !== undefined ? { deletes: before } : {}),
          ...("created" in state && state.created !== undefined ? { created: state.created } : {}),
          sign: signOf(status.phase, state, type === "Delete" ? before : undefined),
        },
      ];
    }),
  };
};

const ACTIVE: ReadonlySet<Phase> = new Set<Phase>(["Preparing", "Prepared", "Committing", "RollingBack"]);
const ROLLING_BACK: ReadonlySet<Phase> = new Set<Phase>(["RollingBack", "RolledBack", "Failed"]);
const TERMINAL: ReadonlySet<Phase> = new Set<Phase>(["Committed", "RolledBack", "Failed"]);

/** The hold of a Transaction on its files. */
export type Hold =
  /** A Transaction that has not begun: it has changed nothing yet. */
  | { readonly type: "idle" }
  /** A Transaction that goes on: its files are not committed. */
  | { readonly type: "held" }
  /** A Transaction that has ended, and whose changes the watch may still show. */
  | { readonly type: "awaited"; readonly until: Instant }
  /** A Transaction whose changes the watch has not shown: they are read live. */
  | { readonly type: "read"; readonly paths: readonly FilePath[] }
  | { readonly type: "due"; readonly isIncomplete: boolean };

/** The signs of a Transaction beside itself. */
export interface Evidence {
  /** The time since which its phase is known. */
  readonly since: Instant;
  /** The files whose change the watch has shown, see {@link showsChange}, or that were read. */
  readonly shown: ReadonlySet<FilePath>;
  /** Whether the Transaction does not exist any more. */
  readonly isGone: boolean;
}

/** The time that the watch may take to show a change, in ms. */
const WATCH_LAG = 2_000;

/**
 * Decides whether the files of a Transaction are held, or its commit is due.
 *
 * Guarantees: it is due only when all its changes were seen, or said to be incomplete; not later than `maxWait` after its end, but
 *             with time to read them; or when it is gone.
 */
export const holdOf = (
  { phase, targets }: JournaledTransaction,
  { since, shown, isGone }: Evidence,
  maxWait: number,
  now: Instant,
): Hold => {
  const isOver = TERMINAL.has(phase);
  if (!isOver && !ACTIVE.has(phase)) return { type: "idle" };
  const missing = targets.filter(({ path, sign }) => sign.type !== "none" && !shown.has(path)).map(({ path }) => path);
  if (isGone) return { type: "due", isIncomplete: !isOver || missing.length > 0 };
  if (!isOver) return { type: "held" };
  if (missing.length === 0) return { type: "due", isIncomplete: false };
  if (now >= since + Math.max(maxWait, 2 * WATCH_LAG)) return { type: "due", isIncomplete: true };
  return now < since + WATCH_LAG ? { type: "awaited", until: since + WATCH_LAG } : { type: "read", paths: missing };
};

/**
 * Returns the files that are not committed now: those of Transactions that have not ended, and those that were changed by one
 * that is not known to have begun.
 */
export const heldFiles = (
  all: readonly { readonly transaction: JournaledTransaction; readonly hold: Hold }[],
  touches: readonly Touch[],
): ReadonlySet<FilePath> =>
  new Set(
    all.flatMap(({ transaction: { uid, targets }, hold }) => {
      if (hold.type === "due") return [];
      const touched = touches.filter(({ by }) => by.type === "transaction" && by.uid === uid);
      return [...(hold.type === "idle" ? [] : targets), ...touched].map(({ path }) => path);
    }),
  );

/**
 * The marks of Transactions on an object: by uid, a hash that tells one write from another. It is of their times, and of what tells a
 * rollback within the same second: a mark whose fields another client, or a later Transaction, has taken over has fewer of them, but
 * these stay.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export type Marks = ReadonlyMap<string, string>;

const ownerOf = ({ manager = "" }: ManagedFieldsEntry): string | undefined => transactionOf(manager)?.uid;

const isRestored = ({ fieldsV1 }: ManagedFieldsEntry): boolean =>
  `f:${GROUP}/restored-by` in asObject(asObject(asObject(fieldsV1)["f:metadata"])["f:annotations"]);

const writeOf = (entry: ManagedFieldsEntry): readonly unknown[] => [
  entry.manager,
  entry.time,
  ...(isRestored(entry) ? ["restored"] : []),
];

const NO_MARKS: Marks = new Map();

export const marksOf = ({ metadata: { managedFields = [] } }: KubeObject): Marks => {
  if (!managedFields.some((entry) => ownerOf(entry) !== undefined)) return NO_MARKS;
  const entries = Map.groupBy(managedFields, ownerOf);
  return new Map(
    [...entries].flatMap(([uid, all]) => (uid === undefined ? [] : [[uid, fingerprint(all.map(writeOf))]])),
  );
};

/**
 * Returns the Transactions whose marks have come or moved with this version; only those that have moved, if there are any: a
 * rollback moves its own, and gives back others.
 */
export const movedMarks = (before: Marks, now: Marks): readonly string[] => {
  const changed = [...now].filter(([uid, mark]) => before.get(uid) !== mark).map(([uid]) => uid);
  const moved = changed.filter((uid) => before.has(uid));
  return moved.length > 0 ? moved : changed;
};

/** Finds the Transaction whose mark is the newest entry of an object; status, which controllers write, does not count. */
export const newestMark = ({ metadata: { managedFields = [] } }: KubeObject): string | undefined => {
  const entries = managedFields.filter(({ subresource }) => subresource !== "status");
  const newest = Math.max(...entries.map(({ time }) => fromTimestamp(time) ?? Number.NEGATIVE_INFINITY));
  const owners = new Set(entries.filter(({ time }) => fromTimestamp(time) === newest).map(ownerOf));
  const [owner, ...others] = owners;
  return others.length === 0 ? owner : undefined;
};

/** Whether an object, or its absence, shows that a Transaction has changed it. */
export const showsChange = (
  { uid }: JournaledTransaction,
  { sign }: JournaledTarget,
  object: KubeObject | undefined,
): boolean => {
  const { deletionTimestamp, uid: live } = object?.metadata ?? {};
  switch (sign.type) {
    case "mark":
      return object !== undefined && marksOf(object).has(uid);
    case "end":
      return live !== sign.uid || deletionTimestamp !== undefined;
    case "read":
    case "none":
      return false;
  }
};

/** Whether a Transaction is active, or has ended and touched the object of this file. */
export const mayHaveChanged = ({ phase, targets }: JournaledTransaction, path: FilePath): boolean =>
  targets.some(
    (target) => target.path === path && (ACTIVE.has(phase) || (TERMINAL.has(phase) && target.sign.type !== "none")),
  );

/** Whether a Transaction is being rolled back, or has failed or was rolled back and touched the object of this file. */
export const isRolledBack = (transaction: JournaledTransaction, path: FilePath): boolean =>
  ROLLING_BACK.has(transaction.phase) && mayHaveChanged(transaction, path);

/** Finds the Transaction that has deleted an object: one that is active, or has ended; in a rollback, the one that created it. */
export const deletedBy = (
  transactions: readonly JournaledTransaction[],
  path: FilePath,
  uid: string,
): string | undefined =>
  transactions.find(
    (one) =>
      mayHaveChanged(one, path) &&
      one.targets.some(
        ({ path: own, deletes, created }) =>
          own === path && (deletes === uid || (created === uid && isRolledBack(one, path))),
      ),
  )?.uid;

/**
 * Finds, after a restart, the changes of Transactions that have ended meanwhile, among the files that differ.
 *
 * Guarantees: a file is a Transaction's only if that has ended after the tip was committed, and its mark is the newest entry of the
 *             object, or it has deleted it. What Git has already is no change.
 */
export const resumed = (
  files: readonly PendingFile[],
  transactions: readonly JournaledTransaction[],
  { newest, tipDate }: { readonly newest: (path: FilePath) => string | undefined; readonly tipDate: Instant },
): readonly Omit<Touch, "number" | "at">[] =>
  files.flatMap(({ path, live, operations }) => {
    const ended = transactions.filter(
      ({ phase, targets }) => TERMINAL.has(phase) && targets.some((target) => target.path === path),
    );
    const own = ended.find(({ uid, phase, completedAt = Number.NEGATIVE_INFINITY, targets }) =>
      live === undefined
        ? phase === "Committed" &&
          completedAt > tipDate &&
          targets.some((target) => target.path === path && target.sign.type === "end")
        : // Taking fields away leaves no newer entry: what Git may have already is not told from what was changed afterwards.
          completedAt >= tipDate && newest(path) === uid,
    );
    return own === undefined ? [] : [{ path, version: live, operations, by: { type: "transaction", uid: own.uid } }];
  });
