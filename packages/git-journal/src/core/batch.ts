/**
 * Divides what has to be pushed into commits, each of one author, or of one Transaction.
 */
import { type Instant, parseDuration } from "@janus/types";
import { type GitRepoConfigSpec, MAX_COMMITS } from "../api/git-repo-config.ts";
import type { Operation } from "../api/watch-rule.ts";
import { authorKey, type By, type History, type Touch, UNKNOWN, type Version } from "./history.ts";
import type { FilePath } from "./path.ts";

export interface BatchLimits {
  /** The most changed files of a commit, and their bytes. As many that wait are pushed at once. */
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** The longest wait of a change, in ms, from the first one on. */
  readonly maxWait: number;
}

/** The most characters of a duration: no real one is longer, and digits without end would take long to read. */
const LONGEST_DURATION = 64;

/** Returns `push.interval` in ms; undefined if it is missing, or is no duration. */
export const pushInterval = ({ push }: Pick<GitRepoConfigSpec, "push">): number | undefined => {
  const { interval = "" } = push ?? {};
  const ms = interval.length > LONGEST_DURATION ? undefined : parseDuration(interval);
  return ms === undefined || ms < 0 ? undefined : ms;
};

/** The limits for a repository, whose own settings stand above those of the flags, and the most commits of one push. */
export const limitsFor = (
  flags: BatchLimits,
  spec: Pick<GitRepoConfigSpec, "push">,
): BatchLimits & { readonly maxCommits: number } => ({
  ...flags,
  maxWait: pushInterval(spec) ?? flags.maxWait,
  maxCommits: Math.max(1, spec.push?.maxCommits ?? MAX_COMMITS),
});

/** The changes that are pending for a branch. */
export interface Pending {
  readonly files: number;
  readonly bytes: number;
  /** The time at which the first of these changes was seen. */
  readonly since: Instant;
  /** Whether nothing was compared with this tip before. */
  readonly isFirst: boolean;
}

/** Returns when a batch is pushed; infinite: nothing is pending. */
export const dueAt = ({ files, bytes, since, isFirst }: Pending, limits: BatchLimits): Instant => {
  if (files === 0) return Number.POSITIVE_INFINITY;
  return isFirst || files >= limits.maxFiles || bytes >= limits.maxBytes ? since : since + limits.maxWait;
};

/** A file that differs from the live object. */
export interface PendingFile {
  readonly path: FilePath;
  /** The version at the tip; undefined: there is no such file. */
  readonly tip: Version | undefined;
  /** The version of the live object; undefined: the file is deleted. */
  readonly live: Version | undefined;
  readonly operations: ReadonlySet<Operation>;
}

export interface CommittedFile {
  readonly operation: Operation;
  readonly path: FilePath;
  /** The new version; undefined: the file is deleted. */
  readonly version: Version | undefined;
  /** The last touch of it that the commit makes good. */
  readonly touch: number;
}

export interface PlannedCommit {
  readonly by: By;
  readonly files: readonly CommittedFile[];
}

/** Counts the files with an author, and those with a touch whose author is not known. Files without a touch are neither. */
export const hitsAndMisses = (
  commits: readonly PlannedCommit[],
): { readonly hits: number; readonly misses: number } => {
  const count = (isHit: boolean): number =>
    commits
      .filter(({ by }) => (by.type !== "unknown") === isHit)
      .reduce((sum, { files }) => sum + files.filter(({ touch }) => isHit || touch > 0).length, 0);
  return { hits: count(true), misses: count(false) };
};

/** A commit while it is put together: each file with its versions before and after it. */
interface Draft {
  readonly by: By;
  readonly files: Map<
    FilePath,
    { readonly before: Version | undefined; readonly after: Version | undefined; readonly touch: number }
  >;
}

const operationOf = (before: Version | undefined, after: Version | undefined): Operation =>
  before === undefined ? "CREATE" : after === undefined ? "DELETE" : "UPDATE";

const says = (version: Version | undefined): string | undefined => version?.fingerprint;

/** Adds changes that no touch tells of, by the bot: before all touches, or after those of the same file. */
const withMissed = (files: readonly PendingFile[], touches: readonly Touch[]): readonly Touch[] => {
  const last = new Map(touches.map((touch) => [touch.path, touch]));
  const missed = files
    .filter(({ path, live }) => !last.has(path) || says(last.get(path)?.version) !== says(live))
    .map(({ path, live, operations }): Touch => {
      const at = last.get(path)?.at ?? Number.NEGATIVE_INFINITY;
      return { number: 0, path, version: live, operations, by: UNKNOWN, at };
    });
  return [...missed.filter(({ path }) => !last.has(path)), ...touches, ...missed.filter(({ path }) => last.has(path))];
};

/**
 * Orders touches so that those of a Transaction follow one another: before them what others have made of its files earlier, and
 * after them all the rest.
 */
const aroundTransaction = (
  touches: readonly Touch[],
  uid: string,
): { readonly upTo: readonly Touch[]; readonly rest: readonly Touch[] } => {
  const isOwn = ({ by }: Touch): boolean => by.type === "transaction" && by.uid === uid;
  const lastOwn = new Map(touches.flatMap((touch, at) => (isOwn(touch) ? [[touch.path, at] as const] : [])));
  const isBefore = (touch: Touch, at: number): boolean => !isOwn(touch) && at < (lastOwn.get(touch.path) ?? -1);
  return {
    upTo: [...touches.filter(isBefore), ...touches.filter((touch, at) => lastOwn.get(touch.path) === at)],
    rest: touches.filter((touch, at) => !isOwn(touch) && !isBefore(touch, at)),
  };
};

/** Lists Transactions in the order of their last touches: the locks of the first kept the others from its files. */
const transactionsIn = (touches: readonly Touch[]): readonly string[] => {
  const newestFirst = touches.flatMap(({ by }) => (by.type === "transaction" ? [by.uid] : [])).toReversed();
  return [...new Set(newestFirst)].toReversed();
};

const inOrder = (touches: readonly Touch[]): readonly Touch[] => {
  const ordered: Touch[] = [];
  let left = touches;
  for (const uid of transactionsIn(touches)) {
    const { upTo, rest } = aroundTransaction(left, uid);
    ordered.push(...upTo);
    left = rest;
  }
  return [...ordered, ...left];
};

const bytesOfDraft = ({ files }: Draft): number =>
  [...files.values()].reduce((sum, { after }) => sum + (after?.bytes ?? 0), 0);

/** The bytes of the files of a commit. */
export const bytesOf = ({ files }: PlannedCommit): number =>
  files.reduce((sum, { version }) => sum + (version?.bytes ?? 0), 0);

/** Whether a commit has room for one more file. A single larger one is alone; a Transaction is one commit, however large it is. */
const hasRoom = (draft: Draft, { path, version, by }: Touch, limits: BatchLimits): boolean => {
  if (by.type === "transaction") return true;
  const own = draft.files.get(path);
  const bytes = bytesOfDraft(draft) - (own?.after?.bytes ?? 0) + (version?.bytes ?? 0);
  return draft.files.size + (own === undefined ? 1 : 0) <= limits.maxFiles && bytes <= limits.maxBytes;
};

/** Finds the newest commit of the author, unless a later one has the file, or it is full. */
const commitFor = (drafts: readonly Draft[], touch: Touch, limits: BatchLimits): Draft | undefined => {
  const at = drafts.findLastIndex(({ by }) => authorKey(by) === authorKey(touch.by));
  const draft = drafts[at];
  const isFree = drafts.slice(at + 1).every(({ files }) => !files.has(touch.path));
  return draft !== undefined && isFree && hasRoom(draft, touch, limits) ? draft : undefined;
};

const finished = ({ by, files }: Draft): PlannedCommit => ({
  by,
  files: [...files].map(([path, { before, after, touch }]) => ({
    operation: operationOf(before, after),
    path,
    version: after,
    touch,
  })),
});

/**
 * Makes the commits of a batch, in their order.
 *
 * Guarantees: after the last one each file says what is live; versions of a file are committed in the order in which they were made;
 *             no commit has changes of two authors, nor of a Transaction and others; what changes nothing is in none; a Transaction
 *             has one.
 * Assumes:    neither the files nor the history have anything that is held for a Transaction.
 */
export const commitsOf = (
  files: readonly PendingFile[],
  { touches }: Pick<History, "touches">,
  limits: BatchLimits,
): readonly PlannedCommit[] => {
  const pending = new Map(files.map((file) => [file.path, file]));
  const said = new Map(files.map(({ path, tip }) => [path, { version: tip, touch: 0 }]));
  const drafts: Draft[] = [];
  for (const touch of inOrder(
    withMissed(
      files,
      touches.filter(({ path }) => pending.has(path)),
    ),
  )) {
    const { path, version, by } = touch;
    const before = said.get(path)?.version;
    const number = Math.max(touch.number, said.get(path)?.touch ?? 0);
    const isWritten = says(before) !== says(version) && touch.operations.has(operationOf(before, version));
    said.set(path, { version: isWritten ? version : before, touch: number });
    if (!isWritten) continue;
    const existing = commitFor(drafts, touch, limits);
    const draft: Draft = existing ?? { by, files: new Map() };
    if (existing === undefined) drafts.push(draft);
    const own = draft.files.get(path);
    const first = own === undefined ? before : own.before;
    if (says(first) === says(version)) draft.files.delete(path);
    else draft.files.set(path, { before: first, after: version, touch: number });
  }
  return drafts.filter(({ files }) => files.size > 0).map(finished);
};
