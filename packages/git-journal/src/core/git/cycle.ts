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

/** What is to be in the branch, asked anew for each tip. Assumes: all paths of its commits are in these folders. */
export interface Plan<Read> {
  /** Only what is in these folders is listed, and what is on the way to them. The root is the empty string. */
  readonly folders: readonly string[];
  /** Those whose content decides. */
  readonly blobsToRead: (tree: Tree) => readonly string[];
  readonly read: (content: Uint8Array) => Read;
  /**
   * The commits that are missing, the oldest first; as many as go into one push.
   *
   * @param landed the commits up to this one, of an earlier call, are in the branch: whom they name has no part in what differs now
   * @param tipDate when the tip was committed, in s since 1970; undefined: nobody was asked for it
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
  /** "recover": commits that a process has left are made again on the tip. To be done first by each process. */
  readonly plan: Plan<Read> | "recover";
  /** Whether the clone is to be made small in the end: what is not of the tip goes. */
  readonly repack: boolean;
}

/**
 * A cycle begins on the disk, where the clone may be anything; or with the clone of an earlier cycle of this process; or, besides,
 * with the tip that this one has pushed or seen, which nobody need be asked for: if it is no longer the tip, the push tells.
 */
export type Start = "disk" | "clone" | { readonly tip: ObjectId };

export type Outcome = {
  /** Of the tip that was seen last, the paths that something else is in the way of. */
  readonly conflicts: readonly PathConflict[];
  /** Commits of an earlier cycle, up to this one, which the server turned out to have. */
  readonly landed?: ObjectId;
  /** The tip of before is not among the last commits of the branch: somebody has dropped or replaced commits. */
  readonly rewritten: boolean;
  /** How often another one had pushed. */
  readonly replays: number;
  /** Where the next cycle begins. */
  readonly next: Start;
} & (
  | { readonly is: "current"; readonly tip: ObjectId | undefined }
  | { readonly is: "pushed"; readonly tip: ObjectId; readonly commits: readonly ObjectId[] }
  | { readonly is: "failed"; readonly trouble: Trouble }
);

export interface Cycle<Read> {
  readonly job: Job<Read>;
  readonly replays: number;
  /** The clone was mended or made in this cycle: if it is damaged all the same, that is trouble. */
  readonly isMended: boolean;
  /** As the server has said; undefined: it was not asked. */
  readonly format: ObjectFormat | undefined;
  /** The clone knows this tip, and nothing is pending. */
  readonly isSettled: boolean;
  readonly isDeepened: boolean;
  /** A git process was killed, or the clone removed: there may be lock files and halves of packs. */
  readonly isUnclean: boolean;
  readonly landed: ObjectId | undefined;
  /** When the fetched tip was committed, in s since 1970. */
  readonly tipDate: number | undefined;
  readonly rewritten: boolean;
  readonly conflicts: readonly PathConflict[];
  /** The tip of before; undefined: none, or it is known to be an ancestor. */
  readonly before: ObjectId | undefined;
}

/** What is left to do once the branch is as wanted. */
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
  /** More of the history is fetched, to see whether pending commits are in it. */
  readonly deepening: { readonly base: ObjectId; readonly pending: Pending };
  /** Whether they are. */
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
  /** More of the history is fetched, to see whether the tip of before is in it. */
  readonly lookingBack: { readonly end: End; readonly before: ObjectId };
  /** Whether it is. */
  readonly comparing: { readonly end: End; readonly before: ObjectId };
  readonly settling: { readonly end: End };
  readonly repacking: { readonly end: End };
  readonly pruning: { readonly end: End };
}

export type At<Read> = keyof Stage<Read>;
export type StateAt<Read, A extends At<Read>> =
  A extends At<Read> ? { readonly at: A; readonly cycle: Cycle<Read> } & Stage<Read>[A] : never;

/** Which effect belongs to which state. */
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

/** Named after what is being done: the effect of a state is the only one until its answer is there. */
export type State<Read> = StateAt<Read, At<Read>>;
export type Next<Read> = State<Read> | { readonly at: "end"; readonly outcome: Outcome };

/** How many commits back a tip or a push is looked for. */
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
