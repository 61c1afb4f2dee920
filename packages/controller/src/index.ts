export * from "./core/index.ts";
export { controller, type Controller, type ControllerOptions } from "./shell/controller.ts";
export { FENCED } from "./shell/fence.ts";
export { leadership, type Leadership, type LeadershipOptions, type LeaderStatus } from "./shell/leadership.ts";
export { type Answers, serve } from "./shell/http.ts";
export { jsonLog, type Log, type LogLevel } from "./shell/log.ts";
export { type Watchdog, watchdog } from "./shell/watchdog.ts";
