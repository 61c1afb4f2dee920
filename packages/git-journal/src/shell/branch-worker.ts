// Brings one branch to what is live: carries out what its state asks for, one step after the other.
import type { Api } from "@janus/kube";
import { type Log, type Requeue, wall } from "@janus/runtime/parts";
import { messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { hitsAndMisses, type PlannedCommit } from "../core/batch.ts";
import { blobsToRead, compared, comparedFolders, readBlob } from "../core/branch-comparison.ts";
import type { BranchEvent } from "../core/branch-event.ts";
import { afterEvent } from "../core/branch-fold.ts";
import { reportOf } from "../core/branch-report.ts";
import { type BranchState, initialBranch, type ReadBlob } from "../core/branch-state.ts";
import { type BranchStep, type BranchTiming, nextStep } from "../core/branch-step.ts";
import type { Installation } from "../core/commit-message.ts";
import type { Outcome, Plan } from "../core/git/cycle.ts";
import type { JournaledBranch } from "../core/journaled-branch.ts";
import { resourceKey } from "../core/discovery.ts";
import type { FilePath } from "../core/path.ts";
import type { Branch } from "./branch.ts";
import type { BranchLease } from "./branch-lease.ts";
import type { Configuration } from "./configuration.ts";
import type { FileTexts } from "./file-texts.ts";
import type { JournalMetrics } from "./metrics.ts";
import type { ObjectStreams } from "./object-streams.ts";
import { readCredentials } from "./repository-secret.ts";
import type { StoredTexts } from "./stored-texts.ts";

export interface WorkerContext {
  readonly api: Api;
  readonly log: Log;
  readonly branch: Branch;
  readonly lease: BranchLease;
  readonly streams: Pick<ObjectStreams, "read" | "find">;
  readonly texts: FileTexts;
  readonly stored: StoredTexts;
  readonly installation: Installation;
  readonly timing: BranchTiming;
  readonly metrics: JournalMetrics;
  readonly configuration: Pick<Configuration, "report" | "reportRepository" | "record">;
  readonly signal: AbortSignal;
  readonly wake: () => void;
}

export interface BranchWorker {
  readonly state: () => BranchState;
  readonly tell: (event: BranchEvent) => void;
  /** Carries out steps until there is a wait. */
  readonly work: () => Promise<Requeue>;
}

/** The most bytes of texts for a commit that stay in memory; the rest is stored in the clone. */
const MOST_AT_HAND = 16 * 1024 * 1024;

const leaseLost = ({ branch, repository, key }: JournaledBranch) => ({
  reason: "LeaseHeld" as const,
  message: `the Lease git-${key} of branch ${branch} of ${repository.key} was lost while it was written, and is asked for again`,
});

/** The pause before objects that could not be read are looked for again, in ms. */
const SOON = 500;

export const branchWorker = (
  journaled: JournaledBranch,
  settings: BranchState["settings"],
  context: WorkerContext,
): BranchWorker => {
  const {
    api,
    log,
    branch,
    lease,
    streams,
    texts,
    stored,
    installation,
    timing,
    metrics,
    configuration,
    signal,
    wake,
  } = context;
  const { key } = journaled;
  let state = initialBranch(journaled, settings);
  const reported = new Map<string, string>();

  const fold = (event: BranchEvent): void => {
    const before = state;
    state = afterEvent(state, event, wall());
    metrics.conflicts(before, state);
  };

  const report = (): void => {
    for (const [name, destination] of state.destinations) {
      const said = reportOf(state, destination);
      const text = JSON.stringify(said);
      if (reported.get(name) === text) continue;
      reported.set(name, text);
      configuration.report(name, said);
    }
  };

  /** @param commits those of the outcome, if they are of this process */
  const tellOutcome = (outcome: Outcome, commits: readonly PlannedCommit[]): void => {
    metrics.outcome(outcome, commits);
    if (outcome.rewritten) {
      const message = `branch ${journaled.branch} of ${journaled.repository.url} was rewritten: what is live is committed on what is there`;
      log("warn", message, { branch: key });
      for (const name of state.destinations.keys())
        configuration.record(name, { type: "Warning", reason: "HistoryRewritten", message });
    }
    if (outcome.is === "pushed")
      log("info", "pushed", {
        branch: key,
        destinations: [...state.destinations.keys()],
        commit: outcome.tip,
        commits: outcome.commits.length,
        replays: outcome.replays,
        ...hitsAndMisses(commits),
      });
    if (outcome.is === "failed") {
      const { reason, message, lasts } = outcome.trouble;
      log("warn", "the branch could not be written; trying again", { branch: key, reason, error: message });
      configuration.reportRepository(key, { type: "failed", reason, message, lasts });
    } else configuration.reportRepository(key, { type: "ready", reason: "BranchFound", message: "" });
  };

  const planNow = (): Plan<ReadBlob> => {
    const folders = comparedFolders(state);
    return {
      folders,
      blobsToRead: (tree) => blobsToRead(state, tree),
      read: readBlob,
      commits: (tree, read, landed, tipDate) => {
        fold({ type: "landed", head: landed });
        const { comparison, commits } = compared(state, {
          tree,
          folders: new Set(folders),
          read,
          textOf: (fingerprint) => stored.blobOf(fingerprint) ?? texts.textOf(fingerprint),
          installation,
          tipDate: tipDate === undefined ? undefined : tipDate * 1000,
          now: wall(),
        });
        fold({ type: "compared", comparison });
        return commits;
      },
    };
  };

  const sync = async (isFresh: boolean): Promise<void> => {
    const { repository, secret } = state.branch;
    const read = await readCredentials(api, repository, secret);
    if (E.isLeft(read))
      return fold({ type: "troubled", reason: "ConnectionFailed", message: messageOf(read.left), lasts: false });
    const { authentication } = read.right;
    if (E.isLeft(authentication)) {
      const { reason, message, lasts } = authentication.left;
      configuration.reportRepository(key, authentication.left);
      return fold({
        type: "troubled",
        reason: reason === "SecretMalformed" ? reason : "SecretNotFound",
        message,
        lasts,
      });
    }
    await texts.prepare(state.history.touches.flatMap(({ version }) => version?.fingerprint ?? []));
    const term = lease.signal();
    const outcomes = await branch(planNow(), {
      authentication: authentication.right,
      secret,
      isFresh,
      mayPushFor: lease.mayPushFor,
      signal: AbortSignal.any([signal, term]),
      onMade: (head) => fold({ type: "made", head, commits: state.comparison?.commits ?? [] }),
      onPushed: metrics.pushLasted,
    });
    if (signal.aborted) return;
    if (outcomes.at(-1)?.is !== "current") stored.forget();
    // The end of the term has ended git: that says nothing of the server.
    if (term.aborted && outcomes.at(-1)?.is === "failed")
      return fold({ type: "troubled", ...leaseLost(state.branch), lasts: false });
    // Outcomes before the last are of commits that an earlier process has left.
    for (const outcome of outcomes)
      tellOutcome(outcome, outcome === outcomes.at(-1) ? (state.comparison?.commits ?? []) : []);
    fold({ type: "ended", outcomes, isFresh });
  };

  /** Reads live objects whose texts are not at hand. Texts beyond {@link MOST_AT_HAND} go into the clone. */
  const load = async (missing: ReadonlyMap<string, FilePath>): Promise<"all" | "some"> => {
    await texts.prepare(missing.keys());
    const left = new Map([...missing].filter(([fingerprint]) => texts.textOf(fingerprint) === undefined));
    const places = streams.find(key, new Set(left.values()));
    let isAll = true;
    const lost = new Set<FilePath>();
    let atHand = new Map<string, Uint8Array>();
    let bytes = 0;
    for (const [fingerprint, path] of left) {
      const place = places.get(path);
      const live = place === undefined ? undefined : await streams.read(key, place);
      if (live !== undefined && E.isLeft(live)) isAll = false;
      await texts.prepare([fingerprint]);
      const text = texts.textOf(fingerprint);
      // The object has another version by now, so that no commit of this one can name its author.
      if (text === undefined && (live === undefined || E.isRight(live))) lost.add(path);
      if (text === undefined) continue;
      atHand.set(fingerprint, text);
      bytes += text.length;
      if (bytes <= MOST_AT_HAND) continue;
      const trouble = await stored.store(atHand, signal);
      if (trouble !== undefined) {
        fold({ type: "troubled", ...trouble });
        return "all";
      }
      atHand = new Map();
      bytes = 0;
    }
    fold({ type: "loaded", lost });
    return isAll && lost.size === 0 ? "all" : "some";
  };

  const readTargets = async ({
    uid,
    targets,
  }: Extract<BranchStep, { readonly do: "readTargets" }>): Promise<boolean> => {
    let isAll = true;
    for (const { destination, resource, namespace, name } of targets) {
      const at = {
        destination,
        resource: resourceKey(resource),
        ...(namespace === undefined ? {} : { namespace }),
        name,
      };
      const live = await streams.read(key, at);
      if (E.isLeft(live)) isAll = false;
      else if (live.right !== undefined) fold({ type: "targetRead", uid, file: live.right });
      else isAll = false;
    }
    return isAll;
  };

  const work = async (): Promise<Requeue> => {
    for (;;) {
      if (signal.aborted) return { type: "done" };
      const step = nextStep(state, timing, wall());
      log("debug", "next step", { branch: key, step: step.do });
      switch (step.do) {
        case "wait": {
          report();
          const ms = step.until - wall();
          return Number.isFinite(ms) ? { type: "after", ms: Math.max(1, ms) } : { type: "done" };
        }
        case "acquire":
          lease.acquire();
          break;
        case "release":
          await lease.release();
          break;
        case "load":
          if ((await load(step.missing)) === "some") return { type: "after", ms: SOON };
          break;
        case "readTargets":
          if (!(await readTargets(step))) return { type: "after", ms: SOON };
          break;
        case "sync":
          await sync(step.isFresh);
          report();
      }
    }
  };

  return {
    state: () => state,
    tell: (event) => {
      fold(event);
      wake();
    },
    work,
  };
};
