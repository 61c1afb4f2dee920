// The pure core of the controller of Blueprints.
export { cached, dueAt, turnsOf } from "./after-end.ts";
export { actionSetController } from "./controller.ts";
export { statesOf } from "./counted-states.ts";
export type { Effect, ExecSource, LogSource, Step, StepEvent } from "./effect.ts";
export { endedBy, type ExecOutcome, isUnstarted } from "./exec/exec-outcome.ts";
export { functionNames, functionOf } from "./functions/index.ts";
export { endLog, type LogOutput, NO_LOG, readLog } from "./log-output.ts";
export { type Measure, measuresBetween } from "./measures.ts";
export type { Answer, Happened, Memory } from "./memory.ts";
export { shortHash } from "./names.ts";
export type { Access, Settings } from "./phase-context.ts";
export { blueprintFact } from "./named-objects.ts";
export { endedPod } from "./pods/pod-state.ts";
export { resting } from "./resting.ts";
export { scrubbed, secretValues } from "./scrub.ts";
export { isMisplaced } from "./status-apart.ts";
export { functionGroups, refusedFunctions } from "./templates.ts";
