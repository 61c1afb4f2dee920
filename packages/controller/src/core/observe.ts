// Folds what happened to a Transaction into the observations: the other entry point of the core.
import * as E from "fp-ts/lib/Either.js";
import { changeFaults, changeFolds } from "./forward/observe-change.ts";
import { gateFaults, gateFolds, observeEvents, observePods } from "./forward/observe-gates.ts";
import { traceFolds } from "./forward/observe-trace.ts";
import { lockFaults, lockFolds } from "./locks/observe-lock.ts";
import { withFreedLock } from "./locks/lock-queue.ts";
import { withContents } from "./state/contents.ts";
import type { Discover, FindEvents, FindOwned, FindPods } from "./state/effect.ts";
import type { FaultData, FoldData } from "./state/fold.ts";
import type { Faults, Folds } from "./state/folding.ts";
import { type Folder, handleAnswer, type Observed, type RunFolds } from "./state/handle-answer.ts";
import type { About, Finding, Happened } from "./state/happened.ts";
import { kindFaults, observeKind, observeList } from "./state/observe-lookup.ts";
import { targetFaults, targetFolds } from "./state/observe-target.ts";
import { type Observations, withoutRead } from "./state/observations.ts";
import type { Instant } from "@janus/types";

const FOLDS: Folds<FoldData> = { ...lockFolds, ...targetFolds, ...gateFolds, ...traceFolds, ...changeFolds };

const FAULTS: Faults<FaultData> = { ...lockFaults, ...kindFaults, ...targetFaults, ...gateFaults, ...changeFaults };

const folderOf = (about: About): Folder => {
  const run: RunFolds = (known, folds, answered) =>
    folds.reduce((seen: Observations, fold) => {
      if (typeof fold !== "function") return FOLDS[fold.type](seen, fold as never, answered, { ...about, run });
      const { answer, at, sent } = answered;
      return fold(seen, answer, at, sent, (one, inner, other) =>
        run(one, inner, { ...answered, answer: other ?? answer }),
      );
    }, known);
  const miss: Folder["miss"] = (known, missed) =>
    (missed.effect.unanswered ?? []).reduce((seen: Observations, fold) => {
      if (typeof fold !== "function") return FAULTS[fold.type](seen, fold as never, missed, { ...about, run });
      const { effect, error, at } = missed;
      return fold(seen, error, at, (one, inner, answer) =>
        "call" in effect
          ? run(one, inner, { type: "answered", effect, answer: answer ?? E.left(error), at, sent: at })
          : one,
      );
    }, known);
  return { run, miss };
};

const foundBy = (known: Observations, finding: Finding, at: Instant): Observations => {
  switch (finding.effect.purpose) {
    case "discover": {
      const { effect, found } = finding as Extract<Finding, { effect: Discover }>;
      return observeKind(known, effect, found);
    }
    case "find-owned": {
      const { effect, found } = finding as Extract<Finding, { effect: FindOwned }>;
      return observeList(known, effect, found, at);
    }
    case "find-pods": {
      const { effect, found } = finding as Extract<Finding, { effect: FindPods }>;
      return observePods(known, effect, found, at);
    }
    case "find-events": {
      const { effect, found } = finding as Extract<Finding, { effect: FindEvents }>;
      return observeEvents(known, effect, found, at);
    }
  }
};

/**
 * Folds what happened into the observations.
 *
 * Guarantees: pure and total; see {@link handleAnswer}.
 * @returns `failed`: why a request has to be made again, after a pause.
 */
export const observe = (known: Observations, happened: Happened, about: About): Observed => {
  switch (happened.type) {
    case "answered":
      return handleAnswer(known, happened, folderOf({ ...about, txn: withContents(about.txn, known) }));
    case "found":
      return { known: foundBy(known, happened, happened.at) };
    case "unanswered":
      return { known: folderOf(about).miss(known, happened), failed: happened.error };
    case "changed":
      return { known: withoutRead(known, happened.index, happened.at, happened.finished) };
    case "freed":
      return { known: withFreedLock(known, happened.awaited) };
  }
};
