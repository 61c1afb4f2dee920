// Tells what is wrong with templates before anything runs: fields that cannot be there, and Secrets that may not be made.
import { asObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { type BlueprintPhase, phasesOf } from "../api/blueprint.ts";
import { deniedAccess } from "./access.ts";
import { functionOf } from "./functions/index.ts";
import type { Journal } from "./journal.ts";
import { paramsOf } from "./params.ts";
import type { Access } from "./phase-context.ts";
import { argsAccess } from "./pods/pod-access.ts";
import { stringsOf } from "./render-args.ts";
import type { Inquiry } from "./requests.ts";
import { type Data, fieldsRead, renderText } from "./templates.ts";
import { isTainted, untainted } from "./text.ts";

/** What only the phases make known. */
const LATER = ["Phases", "DeferPhase", "CurrentPhase"];

const DECLARED = "$_ := ";
const declaring = (names: readonly string[]): string => `{{ ${DECLARED}.${names.join(".")} }}`;

const AT_START = { now: 0, seed: "", at: "start" };

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

/** Whether a field is, or has, the value of a Secret. Outputs are not known yet. */
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

/** All that is known of the templates of an action at the start, as far as what they see has been read. */
export const knownReferenceProblems = (
  ask: Inquiry,
  actionSet: ActionSet,
  journal: Journal,
  action: number,
): readonly string[] => {
  const { namespace: own } = actionSet.metadata;
  const blueprint = journal.actions[action]?.blueprint ?? {};
  const data = paramsOf(ask, actionSet, journal, { action, phase: 0 });
  if (data === undefined) return [];
  if (E.isLeft(data)) return [data.left];
  return [
    ...phasesOf(blueprint).flatMap((phase) => {
      const { name = "", objects = {} } = phase;
      const strings = [...stringsOf(objects, "objects"), ...argStrings(phase)];
      return [
        ...problemsIn(strings, data.right).map((problem) => `phase ${name}: ${problem}`),
        ...deniedAccess(ask, secretAccess(phase, data.right, own), name, own, journal.serviceAccount),
      ];
    }),
    ...problemsIn(stringsOf(blueprint.outputArtifacts ?? {}, "outputArtifacts"), data.right),
  ];
};
