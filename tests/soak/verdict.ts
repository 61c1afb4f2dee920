import { isTerminal } from "@janus/controller";
import type { Fate } from "./checked-change.ts";
import type { ObservedStatus } from "./life.ts";
import type { Plan } from "./plan.ts";

/** What became of a Transaction. */
export interface End {
  readonly plan: Plan;
  readonly last: ObservedStatus;
  /** Whether the object is gone. */
  readonly isGone: boolean;
  /** Of each change, in order. */
  readonly fates: readonly Fate[];
}

const all = (fates: readonly Fate[], fate: "in" | "out"): boolean => fates.every((one) => one === fate);

const told = ({ plan, last, isGone, fates }: End): string =>
  `${plan.name} (${isGone ? "gone, last seen " : ""}${last.phase}: ${last.message}): ` +
  plan.checkedChanges.map(({ label }, index) => `${label} is ${JSON.stringify(fates[index])}`).join(", ");

/** The changes that are in come before those that are not. */
const isPrefix = (fates: readonly Fate[]): boolean => {
  const firstOut = fates.indexOf("out");
  return firstOut === -1 || !fates.includes("in", firstOut);
};

/** Whether the targets are as the end of the Transaction says; else what is wrong. */
export const verdict = (end: End): string | undefined => {
  const { plan, last, isGone, fates } = end;
  const isWhole = fates.every((fate) => fate === "in" || fate === "out");
  const isRight = ((): boolean => {
    if (!isWhole) return false;
    if (isGone && plan.intervention === "delete" && plan.spec["deletionPolicy"] !== "Rollback") return isPrefix(fates);
    // Its very last state may have been seen by nobody.
    if (isGone && !isTerminal(last.phase)) return all(fates, "in") || all(fates, "out");
    return all(fates, last.phase === "Committed" ? "in" : "out");
  })();
  return isRight ? undefined : told(end);
};
