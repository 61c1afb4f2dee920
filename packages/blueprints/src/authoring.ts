// Blueprints and ActionSets for those who write them: what is known of them without a cluster.
export { ActionSet, type ActionSpec } from "./api/action-set.ts";
export { Blueprint, type BlueprintAction, type BlueprintPhase } from "./api/blueprint.ts";
export * from "./api/names.ts";
export type { ObjectReference } from "./api/object-reference.ts";
export { abandoned, cannotAbandon } from "./core/abandon.ts";
export { isTerminal } from "./core/after-end.ts";
export type { ArgType } from "./core/args.ts";
export { blueprintFindings, type Findings } from "./core/blueprint-findings.ts";
export { actionsFrom, type Given, objectNamed } from "./core/compose-action-set.ts";
export { argTables } from "./core/functions/index.ts";
export { profileProblems } from "./core/profile-problems.ts";
export { renderedAction, type RenderedPhase, valuesOf } from "./core/render-action.ts";
export { inputProblemsOf } from "./core/action-problems.ts";
export { actionNamed, namedServiceAccount } from "./core/named-objects.ts";
export { rolesOf } from "./core/roles.ts";
