import { run, type Step } from "./effect.ts";
import { hasBegun, readJournal } from "./journaling.ts";
import { leaveAlone } from "./leave-alone.ts";
import { leaving } from "./leaving.ts";
import { deadline } from "./preparing.ts";
import { record } from "./record.ts";
import { failBefore } from "./refuse.ts";
import type { Situation } from "./situation.ts";

/** The last moment at which nothing has been touched. After this write the first change may be on its way. */
export const prepared = (situation: Situation): Step => {
  const { txn, known, now } = situation;
  const refuse = (reason: string, why: string): Step =>
    run(failBefore(txn, now, { reason, problems: new Map(), general: [why] }));
  if (known.journal === undefined) return run(readJournal(txn));
  if (hasBegun(known))
    return leaveAlone(situation, "status.phase: is Prepared, but the journal says that changes were made");
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  if (way.at !== "staying") return refuse(way.at === "release" ? "Deleted" : "RollbackRequested", way.why);
  if (now >= deadline(situation)) return refuse("Timeout", "spec.timeout passed before the first change was made");
  return run(
    record(txn, { phase: "Committing", because: { reason: "Committing", message: "making the changes" } }, now),
  );
};
