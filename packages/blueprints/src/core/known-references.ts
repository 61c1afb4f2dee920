// Tells what is wrong with templates before anything runs: fields that cannot be there, and Secrets that may not be made.
import { asObject, type JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { type BlueprintPhase, isAtomic, phasesOf } from "../api/blueprint.ts";
import { accessOf, deniedAccess, namedAccess } from "./access.ts";
import { functionOf } from "./functions/index.ts";
import type { Journal } from "./journal.ts";
import { AT_START, type KnownArgs, knownArgs, LATER } from "./known-args.ts";
import { paramsOf } from "./params.ts";
import type { Access, PhaseId, Settings } from "./phase-context.ts";
import { argsAccess } from "./pods/pod-access.ts";
import { stringsOf } from "./render-args.ts";
import type { Inquiry } from "./requests.ts";
import { firstProblem } from "./phase-step.ts";
import { type Data, fieldsRead, renderText } from "./templates.ts";
import { isTainted, untainted } from "./text.ts";

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

/** Tells whether a field is, or has, the value of a Secret. Outputs are not known yet. */
const isSecret = (names: readonly string[], data: Data): boolean => {
  const [first = "", , third, , fifth] = names;
  if (first === "Phases") return third === "Secrets" && (fifth === undefined || fifth === "Data");
  const read = renderText(`{{ .${names.join(".")} }}`, data, AT_START);
  return E.isRight(read) && isTainted(read.right);
};

/** The permissions for the Secret that a Pod waits for. */
const secretAccess = (phase: BlueprintPhase, data: Data, own: string): readonly Access[] => {
  const { func = "" } = phase;
  const args = asObject(phase.args);
  const concealed = functionOf(func)?.concealed ?? [];
  const has = concealed
    .flatMap((name) => stringsOf(args[name] ?? null, name))
    .some(([, text]) => fieldsRead(text).some(({ names }) => isSecret(names, data)));
  if (!has) return [];
  const rendered = renderText((args["namespace"] ?? "") as string, data, AT_START);
  const where = E.isRight(rendered) ? untainted(rendered.right) : undefined;
  return where === undefined ? [] : argsAccess(where || own);
};

/** What the ServiceAccount is known not to be allowed. */
const accessIn = (
  ask: Inquiry,
  journal: Journal,
  phase: BlueprintPhase,
  { action, own }: { readonly action: number; readonly own: string },
  { args, isComplete }: KnownArgs,
  data: Data,
): readonly string[] => {
  const { name = "", func = "" } = phase;
  const is = isAtomic(journal.actions[action]?.blueprint ?? {}, phase);
  const named = isComplete ? (functionOf(func)?.named?.(args as JsonObject, is) ?? []) : [];
  const needed = [
    ...(accessOf(phase, own, is, journal.spec.actions?.[action]?.object, args) ?? []),
    ...named.flatMap((one) => namedAccess(one) ?? []),
    ...secretAccess(phase, data, own),
  ];
  return deniedAccess(ask, needed, name, own, journal.serviceAccount);
};

/**
 * All that is known at the start of the templates and arguments of an action, as far as what they see has been read: also what each
 * phase would say before it has asked for anything.
 */
export const knownReferenceProblems = (
  ask: Inquiry,
  actionSet: ActionSet,
  journal: Journal,
  settings: Settings,
  action: number,
): readonly string[] => {
  const { namespace: own } = actionSet.metadata;
  const blueprint = journal.actions[action]?.blueprint ?? {};
  const { phases = [], outputArtifacts = {} } = blueprint;
  const found = paramsOf(ask, actionSet, journal, { action, phase: 0 });
  if (found === undefined) return [];
  if (E.isLeft(found)) return [found.left];
  const data = found.right;

  const argsProblems = (phase: BlueprintPhase, at: number, known: KnownArgs): readonly string[] => {
    const { name = "", objects = {} } = phase;
    const missing = problemsIn([...stringsOf(objects, "objects"), ...argStrings(phase)], data);
    const id: PhaseId = { action, phase: at < phases.length ? at : "defer" };
    const first = (): readonly string[] =>
      known.isComplete ? firstProblem(actionSet, journal, id, settings, known.args) : [];
    const [problems = []] = [missing, known.problems, first()].filter(({ length }) => length > 0);
    return problems.map((problem) => `phase ${name}: ${problem}`);
  };
  return [
    ...phasesOf(blueprint).flatMap((phase, at) => {
      const known = knownArgs(phase, data);
      return [...argsProblems(phase, at, known), ...accessIn(ask, journal, phase, { action, own }, known, data)];
    }),
    ...problemsIn(stringsOf(outputArtifacts, "outputArtifacts"), data),
  ];
};
