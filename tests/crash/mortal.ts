import type { Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

/**
 * What befalls a controller at a request, by what that is and how many such there were: requests that only time brings, such as
 * renewals of locks, move no other. before, after: it dies before it is sent, or after it was answered and before the answer is
 * read. unheard: it lives, and the answer is lost on the way.
 */
export interface Mishap extends Pick<Asked, "text" | "nth"> {
  readonly when: "before" | "after" | "unheard";
}

/** One request as it was sent. */
export interface Asked {
  /** `* change apply a`; the star marks what changes something. The same in every play. */
  readonly text: string;
  /** From 1. */
  readonly nth: number;
  readonly writes: boolean;
  /** Whether no write was under way then. */
  readonly alone: boolean;
}

/** Decides what befalls it at a request, if anything does. */
export type Fate = (asked: Asked, request: Request) => Mishap["when"] | undefined;

/** Only this one, at its moment. */
export const meets =
  (mishap?: Mishap): Fate =>
  ({ text, nth }) =>
    mishap?.text === text && mishap.nth === nth ? mishap.when : undefined;

export interface Mortal {
  readonly hook: Hook;
  /** Resolves at the moment of death. */
  readonly died: Promise<void>;
  /** What was asked so far. */
  readonly trace: readonly Asked[];
  /** Lets what still waits for answers come to its end; nothing of it goes out any more. */
  readonly bury: () => void;
}

/** Not the watch's list and Events, which are told off the critical path: nobody could tell that they are lost. */
const isVital = ({ purpose }: Request): boolean => purpose !== "reflect" && purpose !== "event";

const writes = (request: Request): boolean => {
  const isRead = request.verb === "get" || request.verb === "list" || request.verb === "raw";
  return !isRead && !("dryRun" in request && request.dryRun) && request.purpose !== "review";
};

const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

export const nameOf = (request: Request): string => {
  if ("name" in request && request.name !== undefined) return request.name;
  return "body" in request
    ? ((request.body as { readonly metadata?: { readonly name?: string } }).metadata?.name ?? "")
    : "";
};

const phaseIn = (request: Request): string =>
  "body" in request ? ((request.body as { readonly status?: { readonly phase?: string } }).status?.phase ?? "") : "";

/** Of the name only what is the same in every play; of a record, the phase. One renewal of a lock is like another. */
export const show = (request: Request): string => {
  const { purpose = "?", verb } = request;
  const space = "namespace" in request ? (request.namespace ?? "") : "";
  const name = nameOf(request)
    .replace(UID, "uid")
    .replace(space, space === "" ? "" : "here");
  const words = [purpose, verb, purpose === "renew-lock" ? "" : name, phaseIn(request)];
  return `${writes(request) ? "*" : " "} ${words.filter((word) => word !== "").join(" ")}`;
};

const unanswered = (cause: "aborted" | "connection", message: string) =>
  E.left({ type: "unanswered", cause, message } as const);

/** A process that can die: from that moment on none of its requests goes out, and none is answered. */
export const mortal = (fate: Fate = () => undefined): Mortal => {
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
    const when = fate(asked, request);
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
    died: dying.promise,
    trace,
    bury: () => {
      dead = true;
      buried.resolve();
    },
  };
};
