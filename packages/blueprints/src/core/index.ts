// The pure core of the controller of Blueprints.
export * from "./decide.ts";
export * from "./effect.ts";
export * from "./memory.ts";
export * from "./observe.ts";
export * from "./log-output.ts";
export type { Settings } from "./phase-context.ts";
export { shortHash } from "./names.ts";
export { blueprintFact } from "./resolve.ts";
