// The controller as a library, for tests and the command line.
export * from "./core/index.ts";
export { controller, type Controller, type ControllerOptions } from "./shell/controller.ts";
export { impersonation, lookUp, sendRequest } from "./shell/reconcile/api-request.ts";
export { CONTROLLER_NAMES, FENCE_NAMES } from "./shell/names.ts";
export { HTTP } from "./shell/limits.ts";
