// Compares all destinations of a branch with its tip: which blobs have to be read for it, and which commits are missing.
import type { Instant } from "@janus/types";
import { bytesOf, commitsOf, type PendingFile, type PlannedCommit } from "./batch.ts";
import { type BranchState, type Comparison, type DestinationState, objectAt, type ReadBlob } from "./branch-state.ts";
import { writable } from "./branch-state.ts";
import { type HeldTransaction, holdsAt, isUnlisted } from "./branch-holds.ts";
import { commitAuthor } from "./commit-author.ts";
import { commitMessage, type Installation } from "./commit-message.ts";
import { credited } from "./credit.ts";
import { resourceKey } from "./discovery.ts";
import { contentOf, type FileContent } from "./file-content.ts";
import type { Commit, FileChange } from "./git/commit.ts";
import type { ObjectId } from "./git/object-id.ts";
import { type History, recorded } from "./history.ts";
import type { KeptObject } from "./kept-object.ts";
import { entriesOf } from "./large-map.ts";
import { marker, type Ownership, ownershipBy } from "./ownership.ts";
import { type BaseFolder, type FilePath, layoutOf, markerPath, relativeTo } from "./path.ts";
import { pendingFiles } from "./pending-files.ts";
import { type Compared, mayDelete, type Plan, planned } from "./plan.ts";
import { resumed } from "./transactions.ts";
import type { Tree } from "./tree.ts";

/** The most characters of a text that may be a marker. */
const LONGEST_MARKER = 4_096;

/** Reads a blob. Its text is kept only if it may be a marker. */
export const readBlob = (content: Uint8Array): ReadBlob => {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("utf8");
  const isMarker = text.length <= LONGEST_MARKER && text.includes("kind: Owner");
  return { content: contentOf(text), marker: isMarker ? text : undefined };
};

const completeOf = ({ resources }: DestinationState): ReadonlySet<string> =>
  new Set([...resources].flatMap(([key, { list }]) => (list.is === "complete" ? [key] : [])));

/** The live objects of the resources whose lists are complete: the files of others are not touched. */
const indexOf = ({ resources }: DestinationState): ReadonlyMap<FilePath, KeptObject> => {
  const complete = [...resources.values()].filter(({ list }) => list.is === "complete");
  const [only, ...more] = complete;
  if (only !== undefined && more.length === 0) return entriesOf(only.objects);
  return new Map(complete.flatMap(({ objects }) => [...entriesOf(objects)]));
};

const comparedWith = (
  { settings, gone }: BranchState,
  destination: DestinationState,
  tree: Tree,
  read: ReadonlyMap<string, FileContent | undefined>,
): Compared => {
  const { wanted, formerRules, resources } = destination;
  const { folder } = wanted.destination;
  const may = mayDelete({
    rules: wanted.rules,
    formerRules,
    selected: wanted.selected,
    complete: completeOf(destination),
    gone,
    settings,
  });
  return {
    folder,
    otherFolders: wanted.otherFolders,
    index: indexOf(destination),
    spared: new Set([...resources.values()].flatMap(({ spared }) => [...entriesOf(spared).keys()])),
    tree,
    read,
    mayDelete: (layout, kind) => wanted.deletes && may(layout, kind),
    isWritten: ({ resource: plural, ...layout }) =>
      wanted.selected.some(
        ({ group, version, ...one }) => group === layout.group && version === layout.version && one.plural === plural,
      ),
  };
};

const contentsOf = (blobs: ReadonlyMap<string, ReadBlob>): ReadonlyMap<string, FileContent | undefined> =>
  new Map([...blobs].map(([id, { content }]) => [id, content]));

const foldersOf = ({ destinations }: BranchState): readonly BaseFolder[] =>
  [...destinations.values()].map(({ wanted }) => wanted.destination.folder);

/** Returns the folders whose part of the tree is needed. */
export const comparedFolders = (state: BranchState): readonly string[] =>
  writable(state).map(({ wanted }) => wanted.destination.folder);

const markerIds = (state: BranchState, tree: Tree): readonly string[] =>
  foldersOf(state).flatMap((folder) => tree.get(markerPath(folder))?.id ?? []);

/** Returns the blobs that have to be read, because it is not known what they say. */
export const blobsToRead = (state: BranchState, tree: Tree): readonly string[] => {
  const known = entriesOf(state.blobs);
  const contents = contentsOf(known);
  const needed = writable(state).flatMap(
    (destination) => planned(comparedWith(state, destination, tree, contents)).toRead,
  );
  return [...new Set([...needed, ...markerIds(state, tree).filter((id) => !known.has(id))])];
};

const ownershipOf = (
  { wanted: { destination, contest } }: DestinationState,
  tree: Tree,
  blobs: ReadonlyMap<string, ReadBlob>,
  { clusterUid }: Installation,
): Ownership => {
  const entry = tree.get(markerPath(destination.folder));
  const text = entry === undefined ? undefined : (blobs.get(entry.id)?.marker ?? "");
  return ownershipBy(text, { clusterUid, destination: destination.name }, destination.exclusiveMode, contest);
};

export interface Comparing {
  readonly tree: Tree;
  /** The folders whose part of the tree was read; others are left to the next comparison. */
  readonly folders: ReadonlySet<string>;
  /** The blobs that were asked for, by their ids. */
  readonly read: ReadonlyMap<string, ReadBlob>;
  /** The text of a version of a file, by its fingerprint, or its blob in the clone; undefined: neither is at hand. */
  readonly textOf: (fingerprint: string) => Uint8Array | ObjectId | undefined;
  readonly installation: Installation;
  /** The time of the commit of the tip, if it is known. */
  readonly tipDate: Instant | undefined;
  readonly now: Instant;
}

interface OfDestination {
  readonly state: DestinationState;
  readonly ownership: Ownership;
  readonly resumesFrom: Instant;
  readonly plan: Plan;
  readonly files: readonly PendingFile[];
}

/** The first tip that a process sees tells which changes of Transactions it lacks. The first sync of a folder has no authors. */
const resumesFrom = (
  { hasSettled }: BranchState,
  destination: DestinationState,
  ownership: Ownership,
  { tipDate }: Pick<Comparing, "tipDate">,
): Instant =>
  destination.resumesFrom ??
  (hasSettled || ownership.type === "free" || tipDate === undefined ? Number.POSITIVE_INFINITY : tipDate);

const resourceOf = (folder: BaseFolder, path: FilePath): string | undefined => {
  const layout = layoutOf(relativeTo(folder, path));
  return layout && resourceKey({ group: layout.group, plural: layout.resource });
};

/** Adds what Transactions have changed before the process began, once for each resource. */
const withResumed = (state: BranchState, history: History, part: OfDestination, now: Instant): History => {
  const { resources, wanted } = part.state;
  const touchedPaths = new Set(history.touches.map(({ path }) => path));
  const isNew = ({ path }: PendingFile): boolean =>
    resources.get(resourceOf(wanted.destination.folder, path) ?? "")?.isResumed === false && !touchedPaths.has(path);
  if (part.resumesFrom === Number.POSITIVE_INFINITY || [...resources.values()].every(({ isResumed }) => isResumed))
    return history;
  const ended = [...state.transactions.values()].filter(({ isDone }) => isDone).map(({ transaction }) => transaction);
  return resumed(part.files.filter(isNew), ended, {
    newest: (path) => objectAt(state, path)?.newest,
    tipDate: part.resumesFrom,
  }).reduce((longer, touch) => recorded(longer, { ...touch, at: now }), history);
};

/** Returns the files of these commits that a destination has asked for. */
const committedOf = ({ files }: OfDestination, commits: readonly PlannedCommit[]): ReadonlySet<FilePath> => {
  const asked = new Set(files.map(({ path }) => path));
  return new Set(commits.flatMap((one) => one.files.flatMap(({ path }) => (asked.has(path) ? [path] : []))));
};

/** The most bytes of files in one push, unless its only commit has more. */
const MOST_OF_PUSH = 24 * 1024 * 1024;

/** Returns the first of these commits, as many as go into one push. */
const windowOf = (all: readonly PlannedCommit[], maxCommits: number): readonly PlannedCommit[] => {
  let bytes = 0;
  const tooMany = all.findIndex((commit, at) => {
    bytes += bytesOf(commit);
    return at >= maxCommits || (at > 0 && bytes > MOST_OF_PUSH);
  });
  return tooMany < 0 ? all : all.slice(0, tooMany);
};

const changeOf = (path: FilePath, content: Uint8Array | ObjectId | undefined): FileChange => {
  if (content === undefined) return { path, to: "absent" };
  return typeof content === "string" ? { path, to: "blob", blob: content } : { path, to: "content", content };
};

const bytes = (text: string): Uint8Array => Buffer.from(text);

const gitCommit = (
  state: BranchState,
  commit: PlannedCommit,
  holds: readonly HeldTransaction[],
  markers: readonly FileChange[],
  { textOf, installation, now }: Comparing,
): Commit => {
  const own = holds.find(({ known }) => commit.by.type === "transaction" && known.transaction.uid === commit.by.uid);
  const transaction = own?.known.transaction;
  return {
    author: commitAuthor(commit.by, transaction),
    at: Math.floor(now / 1000),
    message: commitMessage(commit, {
      folders: foldersOf(state),
      installation,
      ...(transaction === undefined ? {} : { transaction }),
      isIncomplete:
        (own?.hold.type === "due" && own.hold.isIncomplete) ||
        transaction?.targets.some(({ path }) => isUnlisted(state, path)) === true,
      others: state.history.others,
    }),
    changes: [
      ...markers,
      ...commit.files.map(({ path, version }) => changeOf(path, version && textOf(version.fingerprint))),
    ],
  };
};

/**
 * Compares the live objects with a tip, and makes the commits that are missing there.
 *
 * Guarantees: nothing is written for a destination in exclusive mode whose folder is another's; the marker of a folder that is
 *             nobody's is in the first commit; a commit that lacks a text, and all after it, are left to the next comparison.
 */
export const compared = (
  state: BranchState,
  comparing: Comparing,
): { readonly comparison: Comparison; readonly commits: readonly Commit[] } => {
  const { tree, read, textOf, installation, now } = comparing;
  const blobs = new Map([...entriesOf(state.blobs), ...read]);
  const contents = contentsOf(blobs);
  const { transactions, held } = holdsAt(state, now);
  const destinations = writable(state).filter(({ wanted }) => comparing.folders.has(wanted.destination.folder));
  const isWhole = destinations.length === writable(state).length;
  const parts = destinations.map((destination): OfDestination => {
    const ownership = ownershipOf(destination, tree, blobs, installation);
    const isBlocked = ownership.type === "anothers" && ownership.isBlocked;
    const against = comparedWith(state, destination, tree, contents);
    const plan: Plan = isBlocked ? { changes: [], toRead: [], conflicts: [] } : planned(against);
    return {
      state: destination,
      ownership,
      resumesFrom: resumesFrom(state, destination, ownership, comparing),
      plan,
      files: pendingFiles(plan, against, held),
    };
  });
  // An object may have changed since the list of blobs was made: nothing is committed until all of them are read.
  const isRead = parts.every(({ plan }) => plan.toRead.length === 0);
  const files = isRead ? parts.flatMap(({ files }) => files) : [];
  const touches = credited(state, state.history.touches);
  const history = parts.reduce<History>((longer, part) => withResumed(state, longer, part, now), {
    ...state.history,
    touches,
  });
  const all = commitsOf(files, history, state.branch.limits);
  const window = windowOf(all, state.branch.limits.maxCommits);
  const lacks = ({ files: changed }: PlannedCommit): readonly (readonly [string, FilePath])[] =>
    changed.flatMap(({ path, version }) =>
      version === undefined || textOf(version.fingerprint) !== undefined ? [] : [[version.fingerprint, path] as const],
    );
  const missing = new Map(window.flatMap(lacks));
  const at = window.findIndex((commit) => lacks(commit).length > 0);
  const commits = at < 0 ? window : window.slice(0, at);
  const committed = new Map(parts.map((part) => [part, committedOf(part, commits)]));
  const unmarked = parts.filter(({ ownership }) => ownership.type === "free");
  const markersOf = (commit: PlannedCommit, n: number): readonly FileChange[] =>
    unmarked.flatMap((part) => {
      const { folder, name } = part.state.wanted.destination;
      const concerns = (one: PlannedCommit): boolean => one.files.some(({ path }) => committed.get(part)?.has(path));
      return concerns(commit) && commits.findIndex(concerns) === n
        ? [changeOf(markerPath(folder), bytes(marker({ clusterUid: installation.clusterUid, destination: name })))]
        : [];
    });
  const ids = new Set([...tree.values()].map(({ id }) => id));
  const [anyId = ""] = ids;
  return {
    commits: commits.map((commit, n) => gitCommit(state, commit, transactions, markersOf(commit, n), comparing)),
    comparison: {
      at: now,
      commits,
      isAll: commits.length === all.length && isWhole && isRead,
      upTo: history.touches.at(-1)?.number ?? 0,
      left: files.length - new Set(commits.flatMap((one) => one.files.map(({ path }) => path))).size,
      missing,
      conflicts: parts.flatMap(({ plan }) => plan.conflicts),
      destinations: new Map(
        parts.map((part) => {
          const { ownership, resumesFrom } = part;
          const { destination } = part.state.wanted;
          const own = committed.get(part) ?? new Set();
          return [destination.name, { ownership, resumesFrom, complete: completeOf(part.state), committed: own }];
        }),
      ),
      blobs: new Map([...blobs].filter(([id]) => ids.has(id))),
      format: anyId.length > 40 ? "sha256" : state.format,
      held,
      number: state.toCompare?.number ?? 0,
      due: new Map(
        transactions.flatMap(({ known: { transaction }, hold }) =>
          hold.type === "due" ? [[transaction.uid, transaction.phase] as const] : [],
        ),
      ),
    },
  };
};
