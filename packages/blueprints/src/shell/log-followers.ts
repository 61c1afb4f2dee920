// Follows the logs that phases wait for, and reports what was read: a kubelet keeps only the end of a long log.
import { setTimeout as sleep } from "node:timers/promises";
import type { Api, Impersonation } from "@janus/kube";
import { type ApiError, classify, isAbsent, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { endLog, type LogOutput, type LogSource, NO_LOG, readLog } from "../core/index.ts";

export interface LogFollowers {
  /** These logs are followed for it, and no longer any others. Those that were read to the end are not read again. */
  readonly join: (uid: string, namespace: string, sources: readonly LogSource[]) => void;
  readonly leave: (uid: string) => void;
  readonly stop: () => void;
}

/** Before a log is read again from its beginning, in ms. */
const PAUSE = 500;
/** A container that has not started has no log: it is asked for so often. */
const MOST_REFUSALS = 20;

export const impersonating = (namespace: string, serviceAccount: string): Impersonation => ({
  user: `system:serviceaccount:${namespace}:${serviceAccount}`,
});

/** Undefined: it is worth another try. */
const problemOf = (error: ApiError, refusals: number): string | undefined => {
  if (isAbsent(error)) return "its Pod is gone";
  if (error.type === "refused" && error.code === 400) return refusals < MOST_REFUSALS ? undefined : messageOf(error);
  return classify(error) === "permanent" ? messageOf(error) : undefined;
};

/** @param onLog tells what was read in the end, and why it is not complete */
export const logFollowers = (api: Api, onLog: (uid: string, phase: string, log: LogOutput) => void): LogFollowers => {
  const followed = new Map<string, Map<string, AbortController>>();

  /** One reading from the beginning. Left: why it has ended early. */
  const read = async (
    namespace: string,
    source: LogSource,
    signal: AbortSignal,
  ): Promise<E.Either<ApiError, LogOutput>> => {
    const { as, namespace: of, pod, container } = source;
    const decoder = new TextDecoder();
    let log = NO_LOG;
    for await (const chunk of api.log(
      { verb: "log", namespace: of, name: pod, container, as: impersonating(namespace, as), purpose: "follow-log" },
      signal,
    )) {
      if (E.isLeft(chunk)) return chunk;
      log = readLog(log, decoder.decode(chunk.right, { stream: true }));
    }
    return E.right(endLog(readLog(log, decoder.decode())));
  };

  const follow = async (uid: string, namespace: string, source: LogSource, signal: AbortSignal): Promise<void> => {
    for (let refusals = 0; !signal.aborted; refusals += 1) {
      const log = await read(namespace, source, signal);
      if (signal.aborted) return;
      if (E.isRight(log)) return onLog(uid, source.phase, log.right);
      const problem = problemOf(log.left, refusals);
      if (problem !== undefined)
        return onLog(uid, source.phase, { ...NO_LOG, isEnded: true, problem: `the log cannot be read: ${problem}` });
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
    }
  };

  return {
    join: (uid, namespace, sources) => {
      const own = followed.get(uid) ?? new Map<string, AbortController>();
      followed.set(uid, own);
      for (const [phase, aborted] of own)
        if (!sources.some((source) => source.phase === phase)) {
          aborted.abort();
          own.delete(phase);
        }
      for (const source of sources)
        if (!own.has(source.phase)) {
          const aborted = new AbortController();
          own.set(source.phase, aborted);
          void follow(uid, namespace, source, aborted.signal);
        }
    },
    leave: (uid) => {
      for (const aborted of followed.get(uid)?.values() ?? []) aborted.abort();
      followed.delete(uid);
    },
    stop: () => {
      for (const own of followed.values()) for (const aborted of own.values()) aborted.abort();
      followed.clear();
    },
  };
};
