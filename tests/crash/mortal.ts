import type { Hook, Request } from "@janus/kube";

/** The moment of death: at the n-th request, before it is sent, or after it was answered and before the answer is read. */
export interface Death {
  readonly at: number;
  readonly when: "before" | "after";
}

export interface Mortal {
  readonly hook: Hook;
  /** Resolves at the moment of death. */
  readonly died: Promise<void>;
  /** What was asked so far. */
  readonly trace: readonly string[];
}

/** Requests whose loss nobody could tell: the watch's list and Events, which are told off the critical path. */
const counts = (request: Request): boolean => request.verb !== "list" && request.purpose !== "event";

const isWrite = ({ verb }: Request): boolean => verb !== "get" && verb !== "list" && verb !== "raw";

/** `* change: PATCH ...`; the star marks what changes something. */
export const describe = (request: Request): string =>
  `${isWrite(request) && !("dryRun" in request && request.dryRun) ? "*" : " "} ${request.purpose ?? "?"} ${request.verb}${"name" in request ? ` ${request.name}` : ""}`;

/** A process that can die: from that moment on none of its requests goes out, and none is answered. */
export const mortal = (death?: Death): Mortal => {
  const trace: string[] = [];
  const dying = Promise.withResolvers<void>();
  let dead = false;
  const never = new Promise<never>(() => {});
  const hook: Hook = async (request, next) => {
    if (dead) return never;
    if (!counts(request)) {
      const answer = await next(request);
      return dead ? never : answer;
    }
    const index = trace.length;
    trace.push(describe(request));
    const isDeath = death?.at === index;
    if (isDeath && death.when === "before") {
      dead = true;
      dying.resolve();
      return never;
    }
    const answer = await next(request);
    if (isDeath) {
      dead = true;
      dying.resolve();
    }
    return dead ? never : answer;
  };
  return { hook, died: dying.promise, trace };
};
