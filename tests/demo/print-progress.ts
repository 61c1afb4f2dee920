import type { Change, Phase } from "@janus/api";
import type { Observed } from "./run-transaction.ts";
import { bold, dim, green, red, say, sayWrapped, yellow } from "./say.ts";

const colour: Readonly<Record<Phase, (text: string) => string>> = {
  Pending: dim,
  Preparing: dim,
  Prepared: dim,
  Committing: bold,
  Committed: green,
  RollingBack: yellow,
  RolledBack: yellow,
  Failed: red,
};

const explained: Readonly<Record<Phase, string>> = {
  Pending: "is it something that can be done at all?",
  Preparing: "locks, dry runs, snapshots; nothing is touched yet",
  Prepared: "everything is locked, checked and kept",
  Committing: "one change at a time",
  Committed: "all of them are made",
  RollingBack: "what is in is rolled back, last one first",
  RolledBack: "every target is as it was before",
  Failed: "",
};

type Fate = "in" | "refused" | "rolled back" | "left" | undefined;

/** What has become of the changes, from the status and, while it is ahead of that, the journal. */
const fates = ({ transaction: { spec, status }, journal }: Observed): readonly Fate[] =>
  spec.changes.map((_, index): Fate => {
    const at = status.items[index]?.state.type;
    if (at === "rejected") return "refused";
    if (at === "restored") return "rolled back";
    if (at === "rollback-failed" || at === "unknown") return "left";
    const ahead = status.phase === "Committing" ? "forward" : status.phase === "RollingBack" ? "back" : undefined;
    if (journal !== undefined && journal.direction === ahead) {
      if (ahead === "forward" && index < journal.cursor) return "in";
      if (ahead === "back" && index > journal.cursor && index < journal.reached)
        return journal.noted.has(index) ? undefined : "rolled back";
    }
    return at === "committed" ? "in" : undefined;
  });

const wording: Readonly<Record<NonNullable<Fate>, string>> = {
  in: green("in"),
  refused: red("refused"),
  "rolled back": yellow("rolled back"),
  left: red("left as it is"),
};

export const describeChange = ({ type, target }: Change): string =>
  `${type.padEnd(6)}  ${target.kind.padEnd(10)}  ${target.name}`;

/** A stopwatch that starts with its first question: `0.42 s`. */
export const stopwatch = (): (() => string) => {
  let start: number | undefined;
  return () => {
    start ??= performance.now();
    return `${((performance.now() - start) / 1000).toFixed(2).padStart(5)} s`;
  };
};

/** What was made comes first and in order, then what was rolled back, last one first. */
const sorted = <News extends { readonly fate: Fate }>(news: readonly News[]): readonly News[] => [
  ...news.filter(({ fate }) => fate !== "rolled back"),
  ...news.filter(({ fate }) => fate === "rolled back").toReversed(),
];

/**
 * Prints what is new, line by line.
 *
 * @param items Whether each change is printed of, too.
 */
export const progressPrinter = (
  time: () => string,
  { items }: { readonly items: boolean },
): ((observed: Observed) => void) => {
  let phase: Phase | undefined;
  let printed: readonly Fate[] = [];
  let waitedFor: string | undefined;

  const printItems = (observed: Observed): void => {
    const { spec, status } = observed.transaction;
    const now = fates(observed);
    const news = spec.changes.flatMap((change, index) =>
      now[index] === undefined || now[index] === printed[index] ? [] : [{ change, index, fate: now[index] }],
    );
    const width = Math.max(...spec.changes.map((change) => describeChange(change).length));
    for (const { change, index, fate } of sorted(news)) {
      const line = describeChange(change).padEnd(width);
      say(`${time()}    ${index + 1}/${spec.changes.length}  ${line}  ${wording[fate]}`);
      const state = status.items[index]?.state;
      if (state !== undefined && "error" in state) sayWrapped(state.error ?? "", 18, dim);
    }
    printed = now;
  };

  const printWaiting = ({ transaction: { spec, status } }: Observed): void => {
    const index = status.items.findIndex(({ waiting }) => waiting !== undefined);
    const gate = status.items[index]?.waiting?.gate;
    if (gate !== undefined && gate !== waitedFor) {
      say(`${time()}    ${index + 1}/${spec.changes.length}  waiting for`);
      sayWrapped(gate, 18, dim);
    }
    waitedFor = gate;
  };

  return (observed) => {
    const { status } = observed.transaction;
    if (items) printItems(observed);
    printWaiting(observed);
    if (status.phase === phase) return;
    phase = status.phase;
    const ready = status.conditions.find(({ type }) => type === "Ready");
    say(`${time()}  ${colour[phase](phase.padEnd(11))}  ${dim(explained[phase])}`);
    if (phase === "Failed") sayWrapped(ready?.message ?? "", 11, dim);
  };
};
