export { answerTo } from "./answer.ts";
export type * from "./api.ts";
export { type Backoff, delayAfter } from "./backoff.ts";
export { type Clock, systemClock } from "./clock.ts";
export { loadConfig } from "./config.ts";
export { type Client, connect, type ConnectOptions } from "./connect.ts";
export type { Connection, Credentials, TlsOptions } from "./credentials.ts";
export { type Discovery, discovery, type UnknownKind } from "./discovery.ts";
export type * from "./error.ts";
export type * from "./object.ts";
export { leader, type Leader, type LeaderOptions } from "./leader.ts";
export { whileLeading } from "./leader-api.ts";
export { callOf, heardOf } from "./leader-call.ts";
export {
  isOfTerm,
  type LeaderRecord,
  leaderRecordOf,
  leases,
  type LeasePlace,
  readLease,
  type Term,
} from "./leader-lease.ts";
export * as candidate from "./leader-step.ts";
export type { Candidacy, Candidate, Heard as LeaseHeard } from "./leader-step.ts";
export { type LeaderTiming, timingProblem } from "./leader-timing.ts";
export { listable } from "./listable.ts";
export { eachPage, listAll, type Page } from "./pages.ts";
export { queue, type Queue, type QueueEvent, type QueueOptions, type Requeue } from "./queue.ts";
export { recent, type Recent } from "./recent.ts";
export {
  eventsOf,
  keyOf,
  reflect,
  type Reflected,
  type ReflectOptions,
  type Reflector,
  type ReflectorEvent,
} from "./reflect.ts";
export { beginning, type Heard, type Learnt, type Reflecting, step } from "./reflecting.ts";
export { type HttpReply, replyOf } from "./reply.ts";
export { type HttpRequest, httpOf } from "./request.ts";
export { shared, type Sharing } from "./shared.ts";
export { type Turns, turns } from "./turns.ts";
export { sizeOf } from "./size.ts";
export { eventOf } from "./watch.ts";
