// The parts of the runtime, of which controllers with needs of their own are made: election, watches, queues, telemetry. Knows no kind.
export { type CommonFlags, type FlagProblem, integer, type OwnFlags, parseFlags } from "./flags.ts";
export { flagHelp, helpText } from "./flags-help.ts";
export { boundConnections } from "./http/bound-connections.ts";
export { type HttpLimits, serve } from "./http/server.ts";
export * as candidate from "./leader-election/election-state.ts";
export type { ElectionInput, ElectionState, ObservedLease } from "./leader-election/election-state.ts";
export { whileLeading } from "./leader-election/leader-api.ts";
export { leaderRecordOf, type LeasePlace, readLease } from "./leader-election/leader-lease.ts";
export { callOf, inputOf } from "./leader-election/leader-requests.ts";
export { type LeaderTiming, timingProblem } from "./leader-election/leader-timing.ts";
export { leader, type Leader } from "./leader-election/leader.ts";
export type { FenceNames } from "./leadership/fence.ts";
export { leadership, type LeaderStatus } from "./leadership/leadership.ts";
export { elapsed, type InstantClock, newClock, wall } from "./process/clock.ts";
export type { ControllerNames } from "./process/controller-names.ts";
export { inLanes } from "./process/in-lanes.ts";
export { defect, jsonLog, type Log, withFields } from "./process/log.ts";
export { type Loop, type Watchdog, watchdog, withHeartbeat } from "./process/watchdog.ts";
export * from "./core.ts";
export {
  type KeyReconciler,
  reconcileKeys,
  type Round,
  type Surroundings,
} from "./reconcile/reconcile-key.ts";
export {
  newTracked,
  type Resting,
  type TrackedObject,
  type TrackedObjects,
  trackedObjects,
} from "./reconcile/tracked-objects.ts";
export { type KindOptions, type WatchedKind, watchKind } from "./reconcile/watch-kind.ts";
export type { RunnableController } from "./runnable-controller.ts";
export { type Reconciled, startWork, type Workplace } from "./start-work.ts";
export { runProcess, type Work, type WorkContext } from "./run-process.ts";
export { packageVersion } from "./package-version.ts";
export { events, type EventSubjects, type NewEvent, recorder } from "./telemetry/events.ts";
export { queueMetrics } from "./telemetry/queue-metrics.ts";
export { withRequestLog } from "./telemetry/request-log.ts";
export { type Finishing, objectWatches, type WatchBudget, type Watched } from "./watch/object-watches.ts";
export { reflectNamespaces, type ReflectedStore } from "./watch/reflect-namespaces.ts";
export { reportWatchFailure } from "./watch/watch-failure.ts";
export {
  initialReflectorState,
  type ReflectorInput,
  type ReflectorState,
  reflectorStep,
} from "./watch/reflector-state.ts";
export {
  eventsOf,
  keyOf,
  type ReflectedBy,
  type Reflector,
  type ReflectorEvent,
  startReflector,
} from "./watch/reflector.ts";
export { type FairTurns, fairTurns } from "./work-queue/fair-turns.ts";
export { largeWork } from "./work-queue/large-work.ts";
export { sharedApi } from "./work-queue/shared-api.ts";
export { throttle } from "./work-queue/throttle.ts";
export { newWorkQueue, type QueueEvent, type Requeue } from "./work-queue/work-queue.ts";
