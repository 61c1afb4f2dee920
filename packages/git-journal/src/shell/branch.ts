// A branch of a repository with its clone: recovers what an earlier process has left, then brings what is planned there.
import { elapsed } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import type { Authentication } from "../core/credentials.ts";
import { afterCycle, nextCycle, UNUSED } from "../core/git/clone-use.ts";
import { begin, type Outcome, type Plan } from "../core/git/cycle.ts";
import type { Results } from "../core/git/effect.ts";
import type { Place } from "../core/git/git-answer.ts";
import type { ObjectId } from "../core/git/object-id.ts";
import { scrubber } from "../core/scrub.ts";
import { DEADLINES, perform } from "./bare-clone.ts";
import { withAccess } from "./credentials.ts";
import { runCycle } from "./cycle.ts";
import { gitIn } from "./git.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { WorkDirectory } from "./work-directory.ts";

/** The parts of a run that may differ each time. */
export interface Circumstances {
  readonly authentication: Authentication;
  /** The `namespace/name` of the Secret with the credentials. */
  readonly secret: string | undefined;
  /** Whether the server is asked for the tip, even if one is known. */
  readonly isFresh: boolean;
  /** The s that a push may last. */
  readonly mayPushFor: () => number;
  readonly signal: AbortSignal;
  /** Called when the commits of the plan are made, up to this one, and pending. */
  readonly onMade?: (head: ObjectId) => void;
  /** Told how long a push has lasted, in s, however it has ended. */
  readonly onPushed?: (seconds: number) => void;
}

/** Brings a plan to the branch, never two at a time. Returns the outcomes in the order in which they happened. */
export type Branch = <Read>(plan: Plan<Read>, circumstances: Circumstances) => Promise<readonly Outcome[]>;

/**
 * @param name the name of the clone, which no other branch has
 * @param largest the most bytes that the clone may take
 */
export const branchIn = (
  work: WorkDirectory,
  name: string,
  where: Pick<Place, "url" | "host" | "port" | "branch">,
  env: Readonly<Record<string, string | undefined>>,
  largest: number,
): Branch => {
  const directory = work.clone(name);
  let use = UNUSED;
  return (plan, { authentication, secret, isFresh, mayPushFor, signal, onMade, onPushed }) =>
    withAccess(authentication, work.places, async (access) => {
      const git = gitIn(gitEnvironment({ directory, home: work.home, url: where.url, access, env }), signal);
      const place = { ...where, secret, scrub: scrubber(authentication) };
      const clone = { git, directory, place, deadlines: DEADLINES, largest, mayPushFor };
      const outcomes: Outcome[] = [];
      for (;;) {
        const cycling = nextCycle(use, plan, isFresh);
        const outcome = await runCycle(begin({ ...cycling, place }, cycling.start), async (effect) => {
          const began = elapsed();
          const answer = await perform(clone, effect);
          if (effect.do === "push") onPushed?.((elapsed() - began) / 1000);
          if (effect.do === "import" && cycling.plan !== "recover" && E.isRight(answer)) {
            const head = (answer.right as Results<unknown>["import"]).at(-1);
            if (head !== undefined) onMade?.(head);
          }
          return answer;
        });
        use = afterCycle(use, cycling, outcome);
        outcomes.push(outcome);
        if (cycling.plan !== "recover" || outcome.is === "failed") return outcomes;
      }
    });
};
