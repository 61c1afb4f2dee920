// Decides what follows from the answer to the effect of a cycle.
import type { ObjectFormat } from "../blob-id.ts";
import * as E from "fp-ts/lib/Either.js";
import type { Tree } from "../tree.ts";
import type { Commit } from "./commit.ts";
import type { At, Cycle, EffectAt, End, Next, Start, State, StateAt } from "./cycle.ts";
import type { Results } from "./effect.ts";
import { type GitFailure, pushVerdict, redirected, type Trouble, type Verdict, verdict } from "./git-answer.ts";
import { withoutConflicts } from "./path-conflict.ts";
import { replay } from "./pending.ts";
import type { Pending } from "./refs.ts";
import type { ObjectId } from "./object-id.ts";

const MOST_REPLAYS = 8;

type Handlers<Read> = {
  readonly [A in At<Read>]: (
    state: StateAt<Read, A>,
    answer: E.Either<GitFailure, Results<Read>[EffectAt[A]]>,
  ) => Next<Read>;
};

const told = <Read>({ conflicts, landed, rewritten, replays, isUnclean }: Cycle<Read>, next: Start) => ({
  conflicts,
  rewritten,
  replays,
  ...(landed === undefined ? {} : { landed }),
  next: isUnclean ? ("disk" as const) : next,
});

const ended = <Read>(cycle: Cycle<Read>, end: End): Next<Read> => ({
  at: "end",
  outcome: { ...end, ...told(cycle, end.tip === undefined ? "clone" : { tip: end.tip }) },
});

const failed = <Read>(cycle: Cycle<Read>, trouble: Trouble): Next<Read> => ({
  at: "end",
  outcome: { is: "failed", trouble, ...told(cycle, "clone") },
});

const connectionFailed = (message: string): Trouble => ({ reason: "ConnectionFailed", message, lasts: false });

/** The format that is tried next; undefined: all were tried. An empty repository does not say which it has. */
const otherFormat = (tried: ObjectFormat | undefined, said: ObjectFormat | undefined): ObjectFormat | undefined => {
  if (tried === undefined) return said ?? "sha256";
  return tried === "sha256" && said !== "sha256" ? "sha1" : undefined;
};

/** Decides what follows from a verdict that is not special to the effect. */
const afterVerdict = <Read>(cycle: Cycle<Read>, found: Verdict): Next<Read> => {
  const { url } = cycle.job.place;
  const mended = { ...cycle, isMended: true };
  switch (found.is) {
    case "trouble":
      return failed(cycle, found.trouble);
    case "disk full":
      return { at: "discarding", cycle: { ...cycle, isUnclean: true }, trouble: found.trouble };
    case "too large":
      return cycle.isMended
        ? { at: "discarding", cycle: { ...cycle, isUnclean: true }, trouble: found.trouble }
        : { at: "making", cycle: mended, format: cycle.format ?? "sha1" };
    case "redirected":
      return { at: "locating", cycle, status: found.status };
    case "other format": {
      const format = otherFormat(cycle.format, found.format);
      return format === undefined
        ? failed(cycle, connectionFailed(`${url} takes objects neither of sha1 nor of sha256`))
        : { at: "making", cycle: { ...cycle, format }, format };
    }
    case "unclean":
      return cycle.isMended ? failed({ ...cycle, isUnclean: true }, found.trouble) : { at: "preparing", cycle: mended };
    case "damaged":
      return cycle.isMended
        ? failed(cycle, connectionFailed(`the clone of ${url} is damaged, although it was made anew`))
        : { at: "making", cycle: mended, format: cycle.format ?? "sha1" };
    case "absent":
    case "stale":
      return failed(cycle, connectionFailed(`git failed for ${url}`));
  }
};

const afterFailure = <Read>(cycle: Cycle<Read>, failure: GitFailure): Next<Read> =>
  afterVerdict(cycle, verdict(cycle.job.place, failure));

/**
 * Tries again: somebody else has pushed, or this push is there all the same, since libcurl sends a request again if the
 * connection ends before the answer. The fetch tells.
 */
const again = <Read>(cycle: Cycle<Read>): Next<Read> => {
  const { place } = cycle.job;
  return cycle.replays < MOST_REPLAYS
    ? { at: "waiting", cycle: { ...cycle, isDeepened: false, replays: cycle.replays + 1 } }
    : failed(
        cycle,
        connectionFailed(
          `others have pushed to ${place.branch} of ${place.url} before each of ${MOST_REPLAYS + 1} pushes`,
        ),
      );
};

/** Goes on with a known tip, which does not have the pending commits, if any. */
const onTip = <Read>(cycle: Cycle<Read>, base: ObjectId | undefined, pending: Pending | undefined): Next<Read> => {
  if (cycle.job.plan !== "recover")
    return base === undefined ? planned(cycle, base, new Map()) : { at: "listing", cycle, base, recorded: [] };
  return pending === undefined
    ? finished(cycle, { is: "current", tip: base })
    : { at: "readingPending", cycle, pending, base };
};

/** Goes on with a known tree: makes the missing commits, unless blobs have to be read first. */
const planned = <Read>(cycle: Cycle<Read>, base: ObjectId | undefined, tree: Tree): Next<Read> => {
  const { plan } = cycle.job;
  if (plan === "recover") return finished(cycle, { is: "current", tip: base });
  const ids = plan.blobsToRead(tree);
  return ids.length > 0
    ? { at: "readingBlobs", cycle, base, tree, plan, ids }
    : made(cycle, base, tree, plan.commits(tree, new Map(), cycle.landed, cycle.tipDate));
};

const made = <Read>(
  cycle: Cycle<Read>,
  base: ObjectId | undefined,
  tree: Tree,
  wanted: readonly Commit[],
): Next<Read> => {
  const { commits, conflicts } = withoutConflicts(tree, wanted);
  const seen = { ...cycle, conflicts };
  return commits.length > 0
    ? { at: "importing", cycle: seen, base, commits }
    : finished(seen, { is: "current", tip: base });
};

/** Goes on once the branch is as wanted: looks for the former tip, and has the clone remember the new one. */
const finished = <Read>(cycle: Cycle<Read>, end: End): Next<Read> => {
  const { before } = cycle;
  if (cycle.isSettled && end.is === "current") return closed(cycle, end);
  if (before === undefined) return { at: "settling", cycle, end };
  if (end.tip === undefined) return { at: "settling", cycle: { ...cycle, rewritten: true }, end };
  return cycle.isDeepened ? { at: "comparing", cycle, end, before } : { at: "lookingBack", cycle, end, before };
};

const closed = <Read>(cycle: Cycle<Read>, end: End): Next<Read> =>
  cycle.job.repack ? { at: "repacking", cycle, end } : ended(cycle, end);

const ACCEPTED = { is: "accepted" } as const;

const HANDLERS: Handlers<unknown> = {
  preparing: ({ cycle }, answer) => {
    if (E.isLeft(answer)) return afterFailure(cycle, answer.left);
    return answer.right === "present"
      ? { at: "checking", cycle }
      : { at: "making", cycle: { ...cycle, isMended: true }, format: "sha1" };
  },

  checking: ({ cycle }, answer) => {
    if (E.isRight(answer)) return { at: "fetching", cycle };
    const { by } = answer.left.ended;
    return by === "exit"
      ? { at: "making", cycle: { ...cycle, isMended: true }, format: "sha1" }
      : afterFailure(cycle, answer.left);
  },

  making: ({ cycle }, answer) =>
    E.isRight(answer) ? { at: "fetching", cycle } : afterFailure({ ...cycle, isMended: true }, answer.left),

  discarding: ({ cycle, trouble }) => failed(cycle, trouble),

  fetching: ({ cycle }, answer) => {
    if (E.isRight(answer)) return { at: "readingRefs", cycle, isAbsent: false };
    return verdict(cycle.job.place, answer.left).is === "absent"
      ? { at: "readingRefs", cycle, isAbsent: true }
      : afterFailure(cycle, answer.left);
  },

  locating: ({ cycle, status }, answer) => {
    return failed(cycle, redirected(cycle.job.place, status, E.isRight(answer) ? answer.right : undefined));
  },

  readingRefs: ({ cycle, isAbsent }, answer) => {
    if (E.isLeft(answer)) return afterFailure(cycle, answer.left);
    const refs = answer.right;
    const { tip, pending } = refs;
    const base = isAbsent ? undefined : refs.fetched;
    const isSettled = tip === base && pending === undefined;
    const tipDate = isAbsent ? undefined : refs.fetchedAt;
    const seen = { ...cycle, isSettled, tipDate, before: tip === base ? cycle.before : (cycle.before ?? tip) };
    if (pending === undefined || base === undefined) return onTip(seen, base, pending);
    return pending.head === base
      ? onTip({ ...seen, before: undefined, landed: base }, base, undefined)
      : { at: "deepening", cycle: seen, base, pending };
  },

  deepening: ({ cycle, base, pending }, answer) =>
    E.isRight(answer)
      ? { at: "doubting", cycle: { ...cycle, isDeepened: true }, base, pending }
      : afterFailure(cycle, answer.left),

  doubting: ({ cycle, base, pending }, answer) => {
    if (E.isLeft(answer)) return afterFailure(cycle, answer.left);
    return answer.right
      ? onTip({ ...cycle, before: undefined, landed: pending.head }, base, undefined)
      : onTip(cycle, base, pending);
  },

  readingPending: ({ cycle, base }, answer) => {
    if (E.isLeft(answer)) return afterFailure(cycle, answer.left);
    return base === undefined
      ? made(cycle, base, new Map(), replay(new Map(), answer.right))
      : { at: "listing", cycle, base, recorded: answer.right };
  },

  listing: ({ cycle, base, recorded }, answer) => {
    if (E.isLeft(answer)) return afterFailure(cycle, answer.left);
    return cycle.job.plan === "recover"
      ? made(cycle, base, answer.right, replay(answer.right, recorded))
      : planned(cycle, base, answer.right);
  },

  readingBlobs: ({ cycle, base, tree, plan }, answer) =>
    E.isLeft(answer)
      ? afterFailure(cycle, answer.left)
      : made(cycle, base, tree, plan.commits(tree, answer.right, cycle.landed, cycle.tipDate)),

  importing: ({ cycle, base }, answer) => {
    if (E.isLeft(answer)) return afterFailure(cycle, answer.left);
    const head = answer.right.at(-1);
    return head === undefined
      ? failed(cycle, connectionFailed("git fast-import made no commit"))
      : { at: "pushing", cycle, base, head, ids: answer.right };
  },

  pushing: ({ cycle, base, head, ids }, answer) => {
    const { place, plan } = cycle.job;
    if (E.isRight(answer) && answer.right === "not sent")
      return failed(cycle, {
        reason: "LeaseHeld",
        message: `the Lease of ${place.branch} of ${place.url} could end during a push, which is left to the next try`,
        lasts: false,
      });
    const found = E.isRight(answer) ? ACCEPTED : pushVerdict(place, answer.left);
    if (found.is === "accepted") return finished(cycle, { is: "pushed", tip: head, commits: ids });
    if (found.is === "stale") return again(cycle);
    // Former commits that the server will never take must not hold up new ones.
    const isDropped = plan === "recover" && found.is === "trouble" && found.trouble.reason === "PushRefused";
    return isDropped ? finished(cycle, { is: "current", tip: base }) : afterVerdict(cycle, found);
  },

  waiting: ({ cycle }) => ({ at: "fetching", cycle }),

  /** A failure to look back is not told: the branch is as wanted all the same. */
  lookingBack: ({ cycle, end, before }, answer) =>
    E.isRight(answer)
      ? { at: "comparing", cycle: { ...cycle, isDeepened: true }, end, before }
      : { at: "settling", cycle, end },

  comparing: ({ cycle, end }, answer) => ({
    at: "settling",
    cycle: { ...cycle, rewritten: E.isRight(answer) && !answer.right },
    end,
  }),

  /** A failure is harmless: the next cycle finds out by itself what the server has. */
  settling: ({ cycle, end }) => closed(cycle, end),

  /** A failure is left to the next time. */
  repacking: ({ cycle, end }, answer) => (E.isRight(answer) ? { at: "pruning", cycle, end } : ended(cycle, end)),

  pruning: ({ cycle, end }) => ended(cycle, end),
};

type AnyAnswer<Read> = E.Either<GitFailure, Results<Read>[keyof Results<Read>]>;

const wasKilled = <Read>(answer: AnyAnswer<Read>): boolean => E.isLeft(answer) && answer.left.ended.by !== "exit";

/**
 * Decides what follows from the answer to the effect of a state.
 *
 * Guarantees: a push replaces exactly the tip on which its commits are; commits that are made are pending until the server is known
 *             to have them, or others take their place; what is written is compared with the tip on which it is written.
 * Assumes:    the answer is that of {@link effectOf} of this state; a process recovers before it writes.
 */
export const next = <Read>(state: State<Read>, answer: AnyAnswer<Read>): Next<Read> => {
  const seen = wasKilled(answer) ? { ...state, cycle: { ...state.cycle, isUnclean: true } } : state;
  return (HANDLERS[state.at] as unknown as (state: State<Read>, answer: AnyAnswer<Read>) => Next<Read>)(seen, answer);
};
