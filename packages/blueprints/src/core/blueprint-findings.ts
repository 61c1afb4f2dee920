// Finds what is wrong with a Blueprint without a cluster: what the controller would refuse, and references that may lead nowhere.
import { report } from "@janus/api";
import { asObject, isObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Blueprint, type BlueprintAction, type BlueprintPhase, phasesOf } from "../api/blueprint.ts";
import { actionProblems } from "./action-problems.ts";
import { functionOf } from "./functions/index.ts";
import { stringsOf } from "./render-args.ts";

export interface Findings {
  /** Problems because of which the controller runs nothing, in the same words. */
  readonly errors: readonly string[];
  /** Findings that may fail when a template is rendered. */
  readonly warnings: readonly string[];
}

const ACTION = /\{\{[^]*?\}\}/gu;
const OUTPUT = /\.Phases\.(\w+)\.Output\.(\w+)/gu;
const INPUT = /(?<!\.Phases\.\w+)\.(ArtifactsIn|ConfigMaps|Secrets)\.(\w+)(?:\.KeyValue\.(\w+))?/gu;

type Strings = readonly (readonly [string, string])[];

/** Returns all texts of an action that may be templates, with their paths. */
const textsOf = (action: BlueprintAction): Strings => [
  ...phasesOf(action).flatMap(({ name = "", args, objects }) =>
    [...stringsOf(asObject(args), "args"), ...stringsOf(asObject(objects), "objects")].map(
      ([path, text]) => [`phase ${name}: ${path}`, text] as const,
    ),
  ),
  ...stringsOf(asObject(action.outputArtifacts), "outputArtifacts"),
];

const matchesIn = (texts: Strings, pattern: RegExp): readonly (readonly [string, readonly string[]])[] =>
  texts.flatMap(([path, text]) =>
    [...text.matchAll(ACTION)].flatMap(([template]) =>
      [...template.matchAll(pattern)].map(([, ...groups]) => [path, groups] as const),
    ),
  );

/** Returns whether a phase may have an output of this name: its function says so, or something in its arguments does. */
const mayOutput = ({ func = "", args }: BlueprintPhase, key: string): boolean => {
  const word = new RegExp(`(?<!\\w)${key}(?!\\w)`, "u");
  return (
    word.test(functionOf(func)?.outputs ?? "") ||
    stringsOf(asObject(args), "").some(([, text]) => word.test(text.replaceAll(ACTION, "")))
  );
};

const outputWarnings = (action: BlueprintAction): readonly string[] =>
  matchesIn(textsOf(action), OUTPUT).flatMap(([path, [name = "", key = ""]]) => {
    const phase = phasesOf(action).find((one) => one.name === name);
    return phase === undefined || mayOutput(phase, key)
      ? []
      : [`${path}: nothing in phase ${name} writes the output "${key}"`];
  });

const DECLARED = {
  ArtifactsIn: "inputArtifactNames",
  ConfigMaps: "configMapNames",
  Secrets: "secretNames",
} as const;

const inputWarnings = (action: BlueprintAction, others: readonly BlueprintAction[]): readonly string[] =>
  matchesIn(textsOf(action), INPUT).flatMap(([path, [of = "", name = "", key]]) => {
    const field = DECLARED[of as keyof typeof DECLARED];
    const produced = others.flatMap(({ outputArtifacts = {} }) =>
      of === "ArtifactsIn" && Object.hasOwn(outputArtifacts, name) ? [outputArtifacts[name]?.keyValue ?? {}] : [],
    );
    return [
      ...((action[field] ?? []).includes(name)
        ? []
        : [
            `${path}: "${name}" is not in ${field}: an ActionSet that does not give it fails only when this is rendered`,
          ]),
      ...(key === undefined || produced.length === 0 || produced.some((one) => Object.hasOwn(one, key))
        ? []
        : [`${path}: no action gives artifact "${name}" a "${key}"`]),
    ];
  });

const named =
  (find: (action: BlueprintAction) => readonly string[]) =>
  ([name, action]: readonly [string, BlueprintAction]): readonly string[] => [
    ...new Set(find(action).map((problem) => `action ${name}: ${problem}`)),
  ];

const noActions = (value: unknown): string =>
  isObject(value) && Object.hasOwn(value, "spec")
    ? "it has no actions: those of a Blueprint are at the top level, in `actions`, and it has no `spec`"
    : "it has no actions";

/** @param value the object as it was read: a Blueprint */
export const blueprintFindings = (value: unknown): Findings => {
  const decoded = Blueprint.decode(value);
  if (E.isLeft(decoded)) return { errors: [report(decoded.left)], warnings: [] };
  const actions = Object.entries(decoded.right.actions ?? {});
  const all = actions.map(([, action]) => action);
  return {
    errors: actions.length === 0 ? [noActions(value)] : actions.flatMap(named(actionProblems)),
    warnings: actions.flatMap(named((one) => [...outputWarnings(one), ...inputWarnings(one, all)])),
  };
};
