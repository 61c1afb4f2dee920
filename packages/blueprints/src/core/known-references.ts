// Tells what is wrong with templates and arguments before anything runs: fields that cannot be there, values that no phase accepts.
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { type BlueprintPhase, phasesOf } from "../api/blueprint.ts";
import { functionOf } from "./functions/index.ts";
import type { Journal } from "./journal.ts";
import { AT_START, type KnownArgs, LATER } from "./known-args.ts";
import type { PhaseId, Settings } from "./phase-context.ts";
import { stringsOf } from "./render-args.ts";
import { firstProblem } from "./phase-step.ts";
import { type Data, fieldsRead, renderText } from "./templates.ts";

const DECLARED = "$_ := ";
const declaring = (names: readonly string[]): string => `{{ ${DECLARED}.${names.join(".")} }}`;

/** Fields that are read whatever else is so, and are not there. */
const missingFields = (source: string, data: Data): readonly string[] =>
  fieldsRead(source)
    .filter(({ names, isCertain }) => isCertain && !LATER.includes(names[0] ?? ""))
    .flatMap(({ names }) => {
      const read = renderText(declaring(names), data, AT_START);
      return E.isLeft(read) ? [read.left.replace(DECLARED, "")] : [];
    });

type Strings = readonly (readonly [string, string])[];

const argStrings = ({ func = "", args = {} }: BlueprintPhase): Strings => {
  const table = functionOf(func)?.args ?? {};
  return Object.entries(args).flatMap(([name, one]) => stringsOf(one, `args.${name}`, table[name]?.verbatim));
};

const problemsIn = (strings: Strings, data: Data): readonly string[] =>
  strings.flatMap(([at, text]) => missingFields(text, data).map((problem) => `${at}: ${problem}`));

/**
 * Lists all that is wrong with the templates and arguments of an action, as far as known at the start: also what each phase would
 * say before it has asked for anything.
 *
 * @param data what its templates see; known: the arguments of each phase, with that
 */
export const knownReferenceProblems = (
  actionSet: ActionSet,
  journal: Journal,
  settings: Settings,
  action: number,
  data: Data,
  known: readonly KnownArgs[],
): readonly string[] => {
  const blueprint = journal.actions[action]?.blueprint ?? {};
  const { phases = [], outputArtifacts = {} } = blueprint;
  const argsProblems = (phase: BlueprintPhase, at: number): readonly string[] => {
    const { name = "", objects = {} } = phase;
    const missing = problemsIn([...stringsOf(objects, "objects"), ...argStrings(phase)], data);
    const id: PhaseId = { action, phase: at < phases.length ? at : "defer" };
    const { args = {}, isComplete = false, problems: own = [] } = known[at] ?? {};
    const first = (): readonly string[] => (isComplete ? firstProblem(actionSet, journal, id, settings, args) : []);
    const [problems = []] = [missing, own, first()].filter(({ length }) => length > 0);
    return problems.map((problem) => `phase ${name}: ${problem}`);
  };
  return [
    ...phasesOf(blueprint).flatMap(argsProblems),
    ...problemsIn(stringsOf(outputArtifacts, "outputArtifacts"), data),
  ];
};
