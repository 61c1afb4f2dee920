// The interface of a controller, how it is run as a process, and how it is simulated in a unit test.
export type * from "./core.ts";
export { simulateController } from "./core.ts";
export type { Answered, ApiRequest, Send } from "./reconcile/api-request.ts";
export { observeObject } from "./reconcile/api-request.ts";
export { type ControllerOptions, objectController, runController, type RunnableController } from "./run-controller.ts";
export type { ApiError, Instant, KubeObject, ObjectMeta, Resource } from "@janus/types";
