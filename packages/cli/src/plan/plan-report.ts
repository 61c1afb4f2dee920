// Prints a preview: one line for each change, differences and problems.
import { type ChangePreview, formatRef, TO_THE_END } from "@janus/controller";
import { hanging } from "../output/wrap.ts";
import type { Paint } from "../output/style.ts";
import { countedEffects, type Effect, effectWord } from "./effect.ts";
import { fromOne } from "../output/from-one.ts";
import { colouredDiff, objectDiff } from "./object-diff.ts";
import { nameOfTarget } from "../progress/change-state.ts";
import type { Previewed } from "./run-preview.ts";

/** Everything for which one change would fail. */
const problemsOf = ({ problems, tooEarly }: Pick<ChangePreview, "problems" | "tooEarly">): readonly string[] => [
  ...problems,
  ...(tooEarly === undefined ? [] : [`${tooEarly}: ${TO_THE_END}`]),
];

export const effectOf = (change: ChangePreview): Effect => {
  const { type, before, after, place } = change;
  if (problemsOf(change).length > 0) return "fail";
  if (type === "Delete" || type === "Replace") return type === "Delete" ? "delete" : "replace";
  if (after === undefined) return "unknown";
  if (type === "Create") return "create";
  return objectDiff(formatRef(place), before, after, place.resource) === "" ? "none" : "change";
};

/** Everything it would fail for, on a line each. */
export const planProblems = ({ general, changes, unplaced }: Previewed): readonly string[] => [
  ...general.map(fromOne),
  ...[...changes, ...unplaced]
    .toSorted((a, b) => a.index - b.index)
    .flatMap((change) => problemsOf(change).map((problem) => `change ${change.index + 1}: ${fromOne(problem)}`)),
];

/** The exit code, as of `kubectl diff`: 0 without differences, 1 with differences, 2 if it would fail. */
export const planExitCode = (previewed: Previewed): number => {
  if (planProblems(previewed).length > 0) return 2;
  return previewed.changes.every((change) => effectOf(change) === "none") ? 0 : 1;
};

/** One line per change, then the differences, then all problems; at most `width` columns, apart from the differences. */
export const planReport = (previewed: Previewed, paint: Paint, width: number): string => {
  const { txn, changes, unplaced, isTried, concealed, advice = [] } = previewed;
  const { name, namespace } = txn.metadata;
  const digits = String(txn.spec.changes.length).length;
  const failing = new Set(unplaced.filter(({ problems }) => problems.length > 0).map(({ index }) => index));
  const placed = new Map(changes.map((change) => [change.index, change]));
  const lines = txn.spec.changes.map((_, index) => {
    const change = placed.get(index);
    const untold: Effect = failing.has(index) ? "fail" : "unknown";
    const word = effectWord(change === undefined ? untold : effectOf(change), isTried, paint);
    const target = change === undefined ? nameOfTarget(txn, index) : formatRef(change.place);
    return `${String(index + 1).padStart(digits + 1)}  ${word}  ${target}`;
  });
  const diffs = changes.flatMap((change) => {
    const { place, before, type, index } = change;
    const after = type === "Delete" ? undefined : change.after;
    const diff =
      problemsOf(change).length > 0
        ? ""
        : objectDiff(formatRef(place), before, after, place.resource, concealed.has(index));
    const isKnown = type === "Delete" || after !== undefined;
    return diff === "" || !isKnown ? [] : [colouredDiff(diff, paint)];
  });
  const problems = planProblems(previewed);
  const head = `Transaction ${namespace}/${name}, as ServiceAccount ${txn.spec.serviceAccountName}:`;
  const end =
    problems.length === 0
      ? [countedEffects(changes.map(effectOf))]
      : [
          paint("red", "It would fail, with nothing changed:"),
          ...problems.map((text) => `  - ${hanging(text, width, 4)}`),
          ...advice.map((text) => (text.startsWith(" ") ? text : hanging(text, width, 0))),
        ];
  return `${[paint("bold", head), "", ...lines, "", ...diffs, ...end].join("\n")}\n`;
};
