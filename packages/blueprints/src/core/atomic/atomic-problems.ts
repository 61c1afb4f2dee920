// Finds what keeps an action from being atomic, before anything runs.
import { GROUP, PLURAL, VERSION } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { type BlueprintAction, type BlueprintPhase, isAtomic } from "../../api/blueprint.ts";
import { functionOf } from "../functions/index.ts";
import { constantArgs } from "../known-args.ts";
import { resourceNamed } from "../object-lookup.ts";
import type { Inquiry } from "../requests.ts";

/** Names what a phase asks for that no Transaction can do or undo, as far as its arguments are known. */
export const atomicProblems = (action: BlueprintAction, phase: BlueprintPhase): readonly string[] =>
  isAtomic(action, phase) ? (functionOf(phase.func ?? "")?.atomic?.problems(constantArgs(phase).args) ?? []) : [];

/** Says that no Transactions are served, if an action needs them. */
export const unservedTransactions = (inquiry: Inquiry, name: string, action: BlueprintAction): readonly string[] => {
  const { phases = [] } = action;
  if (!phases.some((one) => isAtomic(action, one) && functionOf(one.func ?? "")?.atomic !== undefined)) return [];
  const served = resourceNamed(inquiry, { group: GROUP, apiVersion: VERSION, resource: PLURAL });
  if (served === undefined || E.isRight(served)) return [];
  return [
    `action ${name} is atomic, which needs the controller of Transactions: install it, or leave atomic out (${served.left})`,
  ];
};
