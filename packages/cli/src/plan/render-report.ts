// Prints the render of a Draft: one line for each change, and the fields that differ.
import { type FieldDifference, formatDuration, type Render, type RenderedChange, type Transaction } from "@janus/api";
import type { Paint } from "../output/style.ts";
import { hanging } from "../output/wrap.ts";
import { nameOfTarget } from "../progress/change-state.ts";
import { fromOne } from "../output/from-one.ts";
import { countedEffects, type Effect, effectWord } from "./effect.ts";

const EFFECTS: Readonly<Record<RenderedChange["result"], Effect>> = {
  Create: "create",
  Change: "change",
  Replace: "replace",
  Delete: "delete",
  NoChange: "none",
  DependsOnEarlier: "unknown",
  Refused: "fail",
};

/** The effect of the change; unknown where none could be tried. */
export const effectIn = ({ changes = [] }: Render, index: number): Effect => {
  const change = changes[index];
  return change === undefined ? "unknown" : EFFECTS[change.result];
};

/** The render of a Transaction as it is now; undefined: it has not been rendered since it was edited. */
export const currentRender = ({ metadata, status: { render } }: Transaction): Render | undefined =>
  render?.observedGeneration === metadata.generation ? render : undefined;

/** The exit code, as of `kubectl diff`: 0 without differences, 1 with differences, 2 if it would fail. */
export const renderExitCode = ({ result, changes = [] }: Render): number => {
  if (result === "Problems") return 2;
  return changes.every((change) => change.result === "NoChange") ? 0 : 1;
};

/** `- .spec.replicas: 2`, `+ .spec.replicas: 3` */
const fieldLines = ({ path, before, after }: FieldDifference): readonly string[] => [
  ...(before === undefined ? [] : [`- ${path}: ${before}`]),
  ...(after === undefined ? [] : [`+ ${path}: ${after}`]),
];

/** The fields that a change sets, with the colours of a diff; none if it sets none. */
export const fieldDiff = ({ diff = [], more }: RenderedChange, paint: Paint): readonly string[] => [
  ...diff.flatMap(fieldLines).map((line) => paint(line.startsWith("-") ? "red" : "green", line)),
  ...(more === undefined ? [] : [paint("dim", `  and ${more} more fields`)]),
];

/** Everything it would fail for. The message of a single problem is the longer one. */
export const renderProblems = ({ result, message = "it would fail", changes = [] }: Render): readonly string[] => {
  if (result === "OK") return [];
  const refused = changes.flatMap(({ result, message }, index) =>
    result === "Refused" && message !== undefined ? [`changes[${index}]: ${message}`] : [],
  );
  return (refused.length > 1 ? refused : [message]).map(fromOne);
};

const gates = (waitFor: readonly string[], isAtEnd: boolean, indent: number): readonly string[] =>
  waitFor.map((gate) => `${" ".repeat(indent)}${isAtEnd ? "waits at the end" : "then waits"} for ${gate}`);

/** The settings in its spec that are not the default: an approver approves those, too. */
const settings = ({ spec }: Transaction): readonly string[] => {
  const {
    timeout,
    rollbackWindow,
    deletionPolicy,
    ttlSecondsAfterFinished,
    rollbackWaitFor = [],
    waitFor = [],
    waitAt,
  } = spec;
  const all = [
    `timeout ${formatDuration(timeout)}`,
    ...(rollbackWindow === undefined ? [] : [`rollbackWindow ${formatDuration(rollbackWindow)}`]),
    ...(ttlSecondsAfterFinished === undefined ? [] : [`ttlSecondsAfterFinished ${ttlSecondsAfterFinished}`]),
    `deletionPolicy ${deletionPolicy}`,
  ];
  return [
    `  ${all.join(", ")}`,
    ...waitFor.map((gate) => `  waits ${waitAt === "End" ? "at the end" : "after each change"} for ${gate}`),
    ...rollbackWaitFor.map((gate) => `  waits after a rollback for ${gate}`),
  ];
};

/** Reports, like `planReport`, what the controller has rendered: differences are fields, without what is around them. */
export const renderReport = (txn: Transaction, render: Render, paint: Paint, width: number): string => {
  const { metadata, spec } = txn;
  const { changes = [] } = render;
  const effects = spec.changes.map((_, index) => effectIn(render, index));
  const digits = String(effects.length).length;
  const lines = effects.map((effect, index) => {
    const word = effectWord(effect, changes.length > 0, paint);
    const { type, waitFor = [] } = spec.changes[index] ?? { type: "" };
    const what = effect === "unknown" ? `${type} of ${nameOfTarget(txn, index)}` : nameOfTarget(txn, index);
    return [
      `${String(index + 1).padStart(digits + 1)}  ${word}  ${what}`,
      ...gates(waitFor, spec.waitAt === "End", digits + 14),
    ].join("\n");
  });
  const diffs = changes.flatMap((change, index) => {
    const fields = fieldDiff(change, paint);
    return fields.length === 0 ? [] : [paint("bold", nameOfTarget(txn, index)), ...fields, ""];
  });
  const problems = renderProblems(render);
  const head = `Transaction ${metadata.namespace}/${metadata.name}, as ServiceAccount ${spec.serviceAccountName}:`;
  const end =
    problems.length === 0
      ? [countedEffects(effects)]
      : [
          paint("red", "It would fail, with nothing changed:"),
          ...problems.map((text) => `  - ${hanging(text, width, 4)}`),
        ];
  return `${[paint("bold", head), ...settings(txn), "", ...lines, "", ...diffs, ...end].join("\n")}\n`;
};
