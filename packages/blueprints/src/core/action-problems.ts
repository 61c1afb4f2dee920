// Finds what is wrong with an action of an ActionSet and its Blueprint, whatever the cluster has.
import { report } from "@janus/api";
import { type JsonObject, memoized } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ActionSpec } from "../api/action-set.ts";
import { Blueprint, type BlueprintAction, type BlueprintPhase, phasesOf } from "../api/blueprint.ts";
import { isGiven } from "../api/object-reference.ts";
import { argProblems } from "./args.ts";
import { atomicProblems } from "./atomic/atomic-problems.ts";
import { boundProblems } from "./bounds.ts";
import { functionNames, functionOf, notBuilt } from "./functions/index.ts";
import { constantArgs } from "./known-args.ts";
import { actionNamed } from "./named-objects.ts";
import { nearest } from "./nearest.ts";
import { isOfKind } from "./object-lookup.ts";
import { referenceProblems } from "./phase-references.ts";
import { templateProblems } from "./render-args.ts";

/** The most actions of an ActionSet, its phases in all, those of an action, and bytes of args and of an action. */
const LIMITS = { actions: 50, allPhases: 1000, phases: 100, args: 64 * 1024, action: 256 * 1024 };

/** Says that an ActionSet has more than its status could show, before anything is written. */
export const tooMany = (actions: readonly BlueprintAction[]): string | undefined => {
  const phases = actions.reduce((sum, action) => sum + phasesOf(action).length, 0);
  if (actions.length > LIMITS.actions) return `${actions.length} actions, ${LIMITS.actions} are the most`;
  return phases > LIMITS.allPhases
    ? `${phases} phases in all, ${LIMITS.allPhases} are the most: make it several ActionSets`
    : undefined;
};

const tooLarge = (what: string, value: unknown, most: number): readonly string[] => {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  return bytes > most ? [`${what} ${Math.ceil(bytes / 1024)} KiB, ${most / 1024} KiB is the most`] : [];
};

/** Says what is wrong with a phase of an action, whatever the objects are. */
const phaseProblems = (action: BlueprintAction, phase: BlueprintPhase): readonly string[] => {
  const { func = "", name = "", args = {} } = phase;
  const found = functionOf(func);
  if (found === undefined) {
    if (notBuilt.includes(func))
      return [
        `phase ${name}: function ${func} of Kanister is not there${/RDS/u.test(func) ? ": use KubeTask with the AWS CLI" : ""}`,
      ];
    const other = nearest(func, functionNames);
    const hint = other === undefined ? `(there is ${functionNames.join(", ")})` : `; did you mean ${other}?`;
    return [`phase ${name}: function "${func}" does not exist${other === undefined ? " " : ""}${hint}`];
  }
  return [
    ...tooLarge("its args are", args, LIMITS.args),
    ...boundProblems(phase),
    ...argProblems(func, found.args, args),
    ...constantArgs(phase).problems,
    ...(found.problems?.(args) ?? []),
    ...atomicProblems(action, phase),
  ].map((problem) => `phase ${name}: ${problem}`);
};

/** Says what is wrong with an action of a Blueprint, whatever the objects are. */
export const actionProblems = memoized((action: BlueprintAction): readonly string[] => {
  const names = phasesOf(action).map(({ name = "" }) => name);
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  const { phases = [] } = action;
  if (phases.length > LIMITS.phases) return [`${phases.length} phases, ${LIMITS.phases} are the most`];
  return [
    ...tooLarge("the action of the Blueprint is", action, LIMITS.action),
    ...phasesOf(action).flatMap((phase) => phaseProblems(action, phase)),
    ...[...new Set(twice)].map((name) => `two phases are called "${name}"`),
    ...Object.entries(action.outputArtifacts ?? {}).flatMap(([name, artifact]) =>
      templateProblems(artifact as unknown as JsonObject, `outputArtifacts.${name}`),
    ),
    ...referenceProblems(action),
  ];
});

/** Names what an action needs and is not given, as far as it is known without a cluster. */
export const inputProblems = (name: string, wanted: BlueprintAction, spec: ActionSpec): readonly string[] => {
  const missing = (kind: string, names: readonly string[] | undefined, given: object | undefined): readonly string[] =>
    (names ?? [])
      .filter((one) => !Object.hasOwn(given ?? {}, one))
      .map((one) => `${kind} "${one}" is required by action ${name} and not given`);
  return [
    ...(isGiven(wanted.kind) &&
    spec.object !== undefined &&
    isGiven(spec.object.kind) &&
    !isOfKind(wanted.kind, spec.object)
      ? [`action ${name} is for kind ${wanted.kind}, the object is a ${spec.object.kind ?? "thing without a kind"}`]
      : []),
    ...missing("ConfigMap", wanted.configMapNames, spec.configMaps),
    ...missing("Secret", wanted.secretNames, spec.secrets),
    ...missing("artifact", wanted.inputArtifactNames, spec.artifacts),
  ];
};

/**
 * Says that the Blueprint has no such action, and what that needs and is not given; in the words of the controller.
 *
 * @param blueprint the object, and the action, as they are written
 */
export const inputProblemsOf = (blueprint: unknown, action: unknown): readonly string[] => {
  const wanted = Blueprint.decode(blueprint);
  const given = ActionSpec.decode(action);
  if (E.isLeft(given)) return [report(given.left)];
  // The problem is said of the Blueprint itself.
  if (E.isLeft(wanted)) return [];
  const { name = "", blueprint: called = "" } = given.right;
  const found = actionNamed(wanted.right, `Blueprint ${called}`, name);
  return E.isLeft(found) ? [found.left] : inputProblems(name, found.right, given.right);
};
