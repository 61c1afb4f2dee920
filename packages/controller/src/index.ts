export * from "./core/index.ts";
export { controller, type Controller, type ControllerOptions } from "./shell/controller.ts";
export { jsonLog, type Log, type LogLevel } from "./shell/log.ts";
