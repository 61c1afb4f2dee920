// A process that dies at one of its requests: before it is sent, or after it was answered.
import type { Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

/**
 * The fault of a controller at a request, by its text and number: so requests that depend on time, such as renewals of locks, do
 * not shift others. before, after: it crashes before the request is sent, or after it was answered and before the response is
 * read. unheard: it does not crash, but the response is lost.
 */
export interface Fault extends Pick<Asked, "text" | "nth"> {
  readonly when: "before" | "after" | "unheard";
}

/** One request as it was sent. */
export interface Asked {
  /** `* change apply a`; the star marks what changes something. The same in every run. */
  readonly text: string;
  /** From 1. */
  readonly nth: number;
  readonly writes: boolean;
  /** Whether no write was under way then. */
  readonly alone: boolean;
}

/** The fault at a request, if there is one. */
export type FaultOf = (asked: Asked, request: Request) => Fault["when"] | undefined;

/** Only this one, at its moment. */
export const meets =
  (fault?: Fault): FaultOf =>
  ({ text, nth }) =>
    fault?.text === text && fault.nth === nth ? fault.when : undefined;

export interface CrashingProcess {
  readonly hook: Hook;
  /** Resolves at the crash. */
  readonly crashed: Promise<void>;
  /** The requests so far. */
  readonly trace: readonly Asked[];
  /** Ends the requests that still wait for responses; no further ones are sent. */
  readonly discard: () => void;
}

/** Not the list of the watch, nor Events, which are off the critical path: losing them has no effect. */
const isVital = ({ purpose }: Request): boolean => purpose !== "reflect" && purpose !== "event";

const writes = (request: Request): boolean => {
  const isRead = request.verb === "get" || request.verb === "list" || request.verb === "raw";
  return !isRead && !("dryRun" in request && request.dryRun) && request.purpose !== "review";
};

const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The name of what a phase of an ActionSet has made. */
const OF_ATTEMPT = /(?<=kanister-job-|-snapshot-|-content-)[a-z2-7]{10}/;

export const nameOf = (request: Request): string => {
  if ("name" in request && request.name !== undefined) return request.name;
  return "body" in request
    ? ((request.body as { readonly metadata?: { readonly name?: string } }).metadata?.name ?? "")
    : "";
};

const phaseIn = (request: Request): string =>
  "body" in request ? ((request.body as { readonly status?: { readonly phase?: string } }).status?.phase ?? "") : "";

/** Of the name only what is the same in every run; of a record, the phase. One renewal of a lock is like another. */
export const show = (request: Request): string => {
  const { purpose = "?", verb } = request;
  const space = "namespace" in request ? (request.namespace ?? "") : "";
  const name = nameOf(request)
    .replace(UID, "uid")
    .replace(OF_ATTEMPT, "hash")
    .replace(space, space === "" ? "" : "here");
  const words = [purpose, verb, purpose === "renew-lock" ? "" : name, phaseIn(request)];
  return `${writes(request) ? "*" : " "} ${words.filter((word) => word !== "").join(" ")}`;
};

const unanswered = (cause: "aborted" | "connection", message: string) =>
  E.left({ type: "unanswered", cause, message } as const);

/** A process that can crash: afterwards none of its requests is sent, and none is answered. */
export const crashingProcess = (faultOf: FaultOf = () => undefined): CrashingProcess => {
  const trace: Asked[] = [];
  const counts = new Map<string, number>();
  const dying = Promise.withResolvers<void>();
  const buried = Promise.withResolvers<void>();
  let dead = false;
  let writing = 0;
  const die = (): void => {
    dead = true;
    dying.resolve();
  };
  const silence = async () => {
    await buried.promise;
    return unanswered("aborted", "the process is dead");
  };
  const hook: Hook = async (request, next) => {
    if (dead) return silence();
    if (!isVital(request)) {
      const answer = await next(request);
      return dead ? silence() : answer;
    }
    const text = show(request);
    const asked: Asked = { text, nth: (counts.get(text) ?? 0) + 1, writes: writes(request), alone: writing === 0 };
    trace.push(asked);
    counts.set(text, asked.nth);
    const when = faultOf(asked, request);
    if (when === "before") {
      die();
      return silence();
    }
    if (asked.writes) writing += 1;
    const answer = await next(request);
    if (asked.writes) writing -= 1;
    if (when === "after") die();
    if (dead) return silence();
    return when === "unheard" ? unanswered("connection", "the connection was reset") : answer;
  };
  return {
    hook,
    crashed: dying.promise,
    trace,
    discard: () => {
      dead = true;
      buried.resolve();
    },
  };
};
