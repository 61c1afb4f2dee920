// Finds templates that name a phase that has not begun when they are rendered, or that does not exist: known before anything runs.
import { asObject } from "@janus/types";
import type { BlueprintAction, BlueprintPhase } from "../api/blueprint.ts";
import { stringsOf } from "./render-args.ts";

const ACTION = /\{\{[^]*?\}\}/gu;
const PHASE = /\.Phases\.(\w+)/gu;

/** The phases that the templates of a value name, with their paths. */
const named = (value: unknown, path: string): readonly (readonly [string, string])[] =>
  stringsOf(asObject(value), path).flatMap(([at, text]) =>
    [...text.matchAll(ACTION)].flatMap(([action]) =>
      [...action.matchAll(PHASE)].map(([, name = ""]) => [at, name] as const),
    ),
  );

const unknown = (value: unknown, path: string, phases: readonly BlueprintPhase[]): readonly string[] =>
  named(value, path)
    .filter(([, name]) => !phases.some((phase) => phase.name === name))
    .map(([at, name]) => `${at}: no phase before it is called "${name}"`);

/** Names what an action asks of phases and they do not have: a phase sees itself and those before it, the end all of them. */
export const referenceProblems = ({ phases = [], deferPhase, outputArtifacts }: BlueprintAction): readonly string[] => [
  ...phases.flatMap(({ name = "", args }, at) =>
    unknown(args, "args", phases.slice(0, at + 1)).map((problem) => `phase ${name}: ${problem}`),
  ),
  ...unknown(deferPhase?.args, "args", phases).map((problem) => `phase ${deferPhase?.name ?? ""}: ${problem}`),
  ...unknown(outputArtifacts, "outputArtifacts", phases),
];
