// The interface of a controller, how it is run as a process, and how it is simulated in a unit test.
export type * from "./core.ts";
export { simulateController } from "./core.ts";
export type { Answered, ApiRequest, Send } from "./reconcile/api-request.ts";
export { observeObject } from "./reconcile/api-request.ts";
export type { Round } from "./reconcile/reconcile-key.ts";
export { type ControllerFlags, type ControllerOptions, runController } from "./run-controller.ts";
export { objectController, type RunnableController } from "./runnable-controller.ts";
export type { NewEvent } from "./telemetry/events.ts";
export type { SecondaryWatch } from "./watch/secondary-watch.ts";
export type { Request } from "@janus/kube";
export type { ApiError, Instant, KubeObject, ObjectMeta, Resource } from "@janus/types";
