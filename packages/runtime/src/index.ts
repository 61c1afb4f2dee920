// The runtime of a controller: how it is elected, watches, queues its work, measures and serves. Knows no kind.
export { leader, type Leader, type LeaderOptions } from "./leader-election/leader.ts";
export { whileLeading } from "./leader-election/leader-api.ts";
export { callOf, inputOf } from "./leader-election/leader-requests.ts";
export {
  isOfTerm,
  type LeaderRecord,
  leaderRecordOf,
  type LeasePlace,
  readLease,
  type Term,
} from "./leader-election/leader-lease.ts";
export * as candidate from "./leader-election/election-state.ts";
export type {
  ElectionState,
  Candidate,
  ElectionInput,
} from "./leader-election/election-state.ts";
export { type LeaderTiming, timingProblem } from "./leader-election/leader-timing.ts";
export {
  newWorkQueue,
  type WorkQueue,
  type QueueEvent,
  type QueueOptions,
  type Requeue,
} from "./work-queue/work-queue.ts";
export { sharedApi, type Sharing } from "./work-queue/shared-api.ts";
export { type FairTurns, fairTurns } from "./work-queue/fair-turns.ts";
export { throttle } from "./work-queue/throttle.ts";
export {
  eventsOf,
  keyOf,
  startReflector,
  type Reflected,
  type ReflectOptions,
  type Reflector,
  type ReflectorEvent,
} from "./watch/reflector.ts";
export {
  initialReflectorState,
  type ReflectorInput,
  type ReflectorOutput,
  type ReflectorState,
  reflectorStep,
} from "./watch/reflector-state.ts";
export { type Answers, type HttpLimits, serve } from "./http/server.ts";
export { metricsAuth } from "./http/metrics-auth.ts";
export { elapsed, type InstantClock, newClock, wall } from "./process/clock.ts";
export type { ControllerNames } from "./process/controller-names.ts";
export { inLanes } from "./process/in-lanes.ts";
export { defect, jsonLog, type Log, type LogLevel, withFields } from "./process/log.ts";
export { processMetrics } from "./process/process-metrics.ts";
export { type Readiness, READINESS, unready } from "./process/readiness.ts";
export { type Loop, type Watchdog, watchdog, withHeartbeat } from "./process/watchdog.ts";
export { apiMetrics } from "./telemetry/api-metrics.ts";
export { queueMetrics } from "./telemetry/queue-metrics.ts";
export { type EventSubjects, type Recorder, recorder } from "./telemetry/events.ts";
export type { FenceNames } from "./leadership/fence.ts";
export { leaderMark } from "./leadership/leader-label.ts";
export { leaderMetrics } from "./leadership/leader-metrics.ts";
export {
  leadership,
  type Leadership,
  type LeadershipOptions,
  type LeaderStatus,
} from "./leadership/leadership.ts";
export {
  type Finishing,
  type TargetWatches,
  targetWatches,
  type WatchBudget,
} from "./watch/object-watches.ts";
export { type LargeWork, largeWork } from "./work-queue/large-work.ts";
