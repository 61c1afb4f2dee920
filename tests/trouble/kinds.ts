// The kinds of requests: what they are for and how they ask.
import type { Hook, Request } from "@janus/kube";

/** What a request is for, and how it asks. */
export const kindOf = (request: Request): string =>
  `${request.purpose ?? "?"}: ${request.verb}${"subresource" in request ? ` ${request.subresource}` : ""}`;

/** Whether it leaves something behind that has to be dealt with when its reply is lost. */
export const isWrite = (request: Request): boolean =>
  request.verb !== "get" &&
  request.verb !== "list" &&
  request.verb !== "raw" &&
  request.purpose !== "review" &&
  !("dryRun" in request && request.dryRun);

/** Counts requests by their kind. */
export const counting = (): { readonly hook: Hook; readonly counts: ReadonlyMap<string, number> } => {
  const counts = new Map<string, number>();
  return {
    counts,
    hook: (request, next) => {
      counts.set(kindOf(request), (counts.get(kindOf(request)) ?? 0) + 1);
      return next(request);
    },
  };
};

/** Whether it keeps locks alive: there are more of them the longer it takes, and a quick run has none. */
export const isOfTime = (kind: string): boolean => /^(renew|read)-lock:/.test(kind);

/** Requests of all kinds but those. */
export const inAll = (counts: ReadonlyMap<string, number>): number =>
  [...counts].reduce((sum, [kind, count]) => (isOfTime(kind) ? sum : sum + count), 0);
