// Asks what the ServiceAccount may do of what a phase is known to need before anything runs.
import { asObject, type JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { BlueprintPhase } from "../api/blueprint.ts";
import type { ObjectReference } from "../api/object-reference.ts";
import { accessOf, deniedAccess, namedAccess, transactionAccessOf } from "./access.ts";
import { functionOf } from "./functions/index.ts";
import { AT_START, type KnownArgs } from "./known-args.ts";
import type { Access } from "./phase-context.ts";
import { argsAccess } from "./pods/pod-access.ts";
import { stringsOf } from "./render-args.ts";
import type { Inquiry } from "./requests.ts";
import { type Data, fieldsRead, renderText } from "./templates.ts";
import { isTainted, untainted } from "./text.ts";

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

/** The account and namespace with which a phase is executed. */
export interface Actor {
  /** The namespace of the ActionSet. */
  readonly own: string;
  readonly account: string;
  /** The phase is one of an atomic action. */
  readonly isAtomic: boolean;
  /** The object of the action. */
  readonly object: ObjectReference | undefined;
}

/**
 * Names each permission that a phase is known to need and the ServiceAccount does not have.
 *
 * @param data what templates see at the start. Undefined: only what is no template is known
 */
export const accessProblems = (
  ask: Inquiry,
  phase: BlueprintPhase,
  { own, account, isAtomic, object }: Actor,
  { args, isComplete }: KnownArgs,
  data: Data | undefined,
): readonly string[] => {
  const { name = "", func = "" } = phase;
  const named = data !== undefined && isComplete ? (functionOf(func)?.named?.(args as JsonObject, isAtomic) ?? []) : [];
  const needed = [
    ...(accessOf(phase, own, isAtomic, object, args) ?? []),
    ...transactionAccessOf(phase, own, isAtomic),
    ...named.flatMap((one) => namedAccess(one) ?? []),
    ...(data === undefined ? [] : secretAccess(phase, data, own)),
  ];
  return deniedAccess(ask, needed, name, own, account);
};
