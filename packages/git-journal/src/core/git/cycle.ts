// The states of a cycle, which brings one branch to what is wanted: each has one effect.
import type { Tree } from "../tree.ts";
import type { Commit } from "./commit.ts";
import type { Effect } from "./effect.ts";
import type { ObjectFormat } from "../blob-id.ts";
import type { Place, Trouble } from "./git-answer.ts";
import type { PathConflict } from "./path-conflict.ts";
import type { RecordedCommit } from "./pending.ts";
import type { Pending } from "./refs.ts";
import type { ObjectId } from "./object-id.ts";

/** The wanted content of a branch, asked anew for each tip. Assumes: all paths of its commits are in these folders. */
export interface Plan<Read> {
  /** The folders that are listed, with what is on the way to them. The root is the empty string. */
  readonly folders: readonly string[];
  /** Returns the blobs whose content decides. */
  readonly blobsToRead: (tree: Tree) => readonly string[];
  readonly read: (content: Uint8Array) => Read;
  /**
   * Makes the commits that are missing, the oldest first; as many as go into one push.
   *
   * @param landed the last of the commits of an earlier call that the branch has: their authors have no part in what differs now
   * @param tipDate the time at which the tip was committed, in s since 1970; undefined: no tip was fetched
   */
  readonly commits: (
    tree: Tree,
    blobs: ReadonlyMap<string, Read>,
    landed: ObjectId | undefined,
    tipDate: number | undefined,
  ) => readonly Commit[];
}

export interface Job<Read> {
  readonly place: Place;
  /** The plan; "recover", which each process does first, makes commits that an earlier one has left again on the tip. */
  readonly plan: Plan<Read> | "recover";
  /** Whether the clone is made small in the end: objects that the tip does not reach go. */
  readonly repack: boolean;
}

/**
 * The start of a cycle: on the disk, where the clone may be anything; or with the clone of an earlier cycle of this process; or
 * also with the tip that this process has pushed or seen, without asking the server: if it is no longer the tip, the push tells.
 */
export type Start = "disk" | "clone" | { readonly tip: ObjectId };

export type Outcome = {
  /** The paths that something else is in the way of, at the tip that was seen last. */
  readonly conflicts: readonly PathConflict[];
  /** The last of the commits of an earlier cycle that the server turned out to have. */
  readonly landed?: ObjectId;
  /** Whether the former tip is not among the last commits of the branch: somebody has dropped or replaced commits. */
  readonly rewritten: boolean;
  /** The number of times that somebody else had pushed first. */
  readonly replays: number;
  /** The start of the next cycle. */
  readonly next: Start;
} & (
  | { readonly is: "current"; readonly tip: ObjectId | undefined }
  | { readonly is: "pushed"; readonly tip: ObjectId; readonly commits: readonly ObjectId[] }
  | { readonly is: "failed"; readonly trouble: Trouble }
);

export interface Cycle<Read> {
  readonly job: Job<Read>;
  readonly replays: number;
  /** Whether the clone was mended or made in this cycle: if it is damaged all the same, the cycle fails. */
  readonly isMended: boolean;
  /** The hash of the server's objects, by its answers; undefined: they have not told. */
  readonly format: ObjectFormat | undefined;
  /** Whether the clone knows this tip, and nothing is pending. */
  readonly isSettled: boolean;
  readonly isDeepened: boolean;
  /** Whether a git process was killed, or the clone removed: there may be lock files and halves of packs. */
  readonly isUnclean: boolean;
  readonly landed: ObjectId | undefined;
  /** The time at which the fetched tip was committed, in s since 1970. */
  readonly tipDate: number | undefined;
  readonly rewritten: boolean;
  readonly conflicts: readonly PathConflict[];
  /** The former tip; undefined: none, or it is known to be an ancestor. */
  readonly before: ObjectId | undefined;
}

/** The end of a cycle once the branch is as wanted. */
export type End =
  | { readonly is: "current"; readonly tip: ObjectId | undefined }
  | { readonly is: "pushed"; readonly tip: ObjectId; readonly commits: readonly ObjectId[] };

interface Stage<Read> {
  readonly preparing: object;
  readonly checking: object;
  readonly making: { readonly format: ObjectFormat };
  readonly discarding: { readonly trouble: Trouble };
  readonly fetching: object;
  readonly locating: { readonly status: string };
  readonly readingRefs: { readonly isAbsent: boolean };
  /** Fetches more of the history, to see whether pending commits are in it. */
  readonly deepening: { readonly base: ObjectId; readonly pending: Pending };
  /** Asks whether they are. */
  readonly doubting: { readonly base: ObjectId; readonly pending: Pending };
  readonly readingPending: { readonly pending: Pending; readonly base: ObjectId | undefined };
  readonly listing: { readonly base: ObjectId; readonly recorded: readonly RecordedCommit[] };
  readonly readingBlobs: {
    readonly base: ObjectId | undefined;
    readonly tree: Tree;
    readonly plan: Plan<Read>;
    readonly ids: readonly string[];
  };
  readonly importing: { readonly base: ObjectId | undefined; readonly commits: readonly Commit[] };
  readonly pushing: { readonly base: ObjectId | undefined; readonly head: ObjectId; readonly ids: readonly ObjectId[] };
  readonly waiting: object;
  /** Fetches more of the history, to see whether the former tip is in it. */
  readonly lookingBack: { readonly end: End; readonly before: ObjectId };
  /** Asks whether it is. */
  readonly comparing: { readonly end: End; readonly before: ObjectId };
  readonly settling: { readonly end: End };
  readonly repacking: { readonly end: End };
  readonly pruning: { readonly end: End };
}

export type At<Read> = keyof Stage<Read>;
export type StateAt<Read, A extends At<Read>> =
  A extends At<Read> ? { readonly at: A; readonly cycle: Cycle<Read> } & Stage<Read>[A] : never;

/** The effect of each state. */
export interface EffectAt {
  readonly preparing: "prepare";
  readonly checking: "check";
  readonly making: "make";
  readonly discarding: "discard";
  readonly fetching: "fetch";
  readonly locating: "locate";
  readonly readingRefs: "readRefs";
  readonly deepening: "fetch";
  readonly doubting: "isAncestor";
  readonly readingPending: "readPending";
  readonly listing: "list";
  readonly readingBlobs: "readBlobs";
  readonly importing: "import";
  readonly pushing: "push";
  readonly waiting: "wait";
  readonly lookingBack: "fetch";
  readonly comparing: "isAncestor";
  readonly settling: "settle";
  readonly repacking: "repack";
  readonly pruning: "prune";
}

/** A state is named after what is being done: its effect is the only one until the answer is there. */
export type State<Read> = StateAt<Read, At<Read>>;
export type Next<Read> = State<Read> | { readonly at: "end"; readonly outcome: Outcome };

/** The number of commits back in which a tip or a push is looked for. */
const FAR = 100;

export const begin = <Read>(job: Job<Read>, start: Start): State<Read> => {
  const cycle: Cycle<Read> = {
    job,
    replays: 0,
    isMended: false,
    format: undefined,
    isSettled: typeof start === "object",
    isDeepened: false,
    isUnclean: false,
    landed: undefined,
    tipDate: undefined,
    rewritten: false,
    conflicts: [],
    before: undefined,
  };
  if (start === "disk") return { at: "preparing", cycle };
  return start === "clone" || job.plan === "recover" || job.repack
    ? { at: "fetching", cycle }
    : { at: "listing", cycle, base: start.tip, recorded: [] };
};

/** The one effect of a state. */
export const effectOf = <Read>(state: State<Read>): Effect<Read> => {
  switch (state.at) {
    case "preparing":
      return { do: "prepare" };
    case "checking":
      return { do: "check" };
    case "making":
      return { do: "make", format: state.format };
    case "discarding":
      return { do: "discard" };
    case "fetching":
      return { do: "fetch", depth: 1 };
    case "locating":
      return { do: "locate" };
    case "readingRefs":
      return { do: "readRefs" };
    case "deepening":
    case "lookingBack":
      return { do: "fetch", depth: FAR };
    case "doubting":
      return { do: "isAncestor", commit: state.pending.head };
    case "comparing":
      return { do: "isAncestor", commit: state.before };
    case "readingPending":
      return { do: "readPending", pending: state.pending };
    case "listing":
      return { do: "list", commit: state.base, folders: foldersOf(state) };
    case "readingBlobs":
      return { do: "readBlobs", ids: state.ids, read: state.plan.read };
    case "importing":
      return { do: "import", base: state.base, commits: state.commits };
    case "pushing":
      return { do: "push", base: state.base, head: state.head };
    case "waiting":
      return { do: "wait", least: 50, most: 500 };
    case "settling":
      return { do: "settle", tip: state.end.tip };
    case "repacking":
      return { do: "repack" };
    case "pruning":
      return { do: "prune" };
  }
};

const foldersOf = <Read>({ cycle, recorded }: StateAt<Read, "listing">): readonly string[] =>
  cycle.job.plan === "recover"
    ? recorded.flatMap(({ changes }) => changes.map(({ path }) => path))
    : cycle.job.plan.folders;
