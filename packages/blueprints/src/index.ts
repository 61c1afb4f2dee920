// The controller of Blueprints, for tests and manifests: its API, and its work.
export { ActionSet } from "./api/action-set.ts";
export { Blueprint } from "./api/blueprint.ts";
export { kanisterCrds } from "./api/crds.ts";
export * from "./api/names.ts";
export { functionNames, functionOf, notBuilt } from "./core/functions/index.ts";
export { NAMES } from "./shell/names.ts";
export { startWork } from "./shell/work.ts";
