// A branch of a repository with its clone: recovers what an earlier process has left, then brings what is planned there.
import type { Authentication } from "../core/credentials.ts";
import { afterCycle, nextCycle, UNUSED } from "../core/git/clone-use.ts";
import { begin, type Outcome, type Plan } from "../core/git/cycle.ts";
import type { Place } from "../core/git/git-answer.ts";
import { scrubber } from "../core/scrub.ts";
import { DEADLINES, perform } from "./bare-clone.ts";
import { withAccess } from "./credentials.ts";
import { runCycle } from "./cycle.ts";
import { gitIn } from "./git.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { WorkDirectory } from "./work-directory.ts";

/** What may be another one each time. */
export interface Circumstances {
  readonly authentication: Authentication;
  /** Such as `shop/cred`. */
  readonly secret: string | undefined;
  /** Whether the server is asked for the tip, even if one is known. */
  readonly isFresh: boolean;
  /** In s: how long a push may last. */
  readonly mayPushFor: () => number;
  readonly signal: AbortSignal;
}

/** Never for two plans at a time. What it returns has happened, one after the other. */
export type Branch = <Read>(plan: Plan<Read>, circumstances: Circumstances) => Promise<readonly Outcome[]>;

/** @param name of the clone; no other branch has it */
export const branchIn = (
  work: WorkDirectory,
  name: string,
  where: Pick<Place, "url" | "host" | "port" | "branch">,
  env: Readonly<Record<string, string | undefined>>,
): Branch => {
  const directory = work.clone(name);
  let use = UNUSED;
  return (plan, { authentication, secret, isFresh, mayPushFor, signal }) =>
    withAccess(authentication, work.places, async (access) => {
      const git = gitIn(gitEnvironment({ directory, home: work.home, url: where.url, access, env }), signal);
      const place = { ...where, secret, scrub: scrubber(authentication) };
      const clone = { git, directory, place, deadlines: DEADLINES, mayPushFor };
      const outcomes: Outcome[] = [];
      for (;;) {
        const cycling = nextCycle(use, plan, isFresh);
        const outcome = await runCycle(begin({ ...cycling, place }, cycling.start), (effect) => perform(clone, effect));
        use = afterCycle(use, cycling, outcome);
        outcomes.push(outcome);
        if (cycling.plan !== "recover" || outcome.is === "failed") return outcomes;
      }
    });
};
