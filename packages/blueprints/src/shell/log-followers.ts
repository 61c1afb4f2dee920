// Follows the logs that phases wait for, and reports what was read: a kubelet keeps only the end of a long log.
import { setTimeout as sleep } from "node:timers/promises";
import type { Impersonation, PodStreams } from "@janus/kube";
import { type ApiError, classify, equal, isAbsent, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { endLog, type LogOutput, type LogSource, NO_LOG, readLog } from "../core/index.ts";

export interface LogFollowers {
  /** Follows these logs for an ActionSet, and no longer any others. Those that were read to the end are not read again. */
  readonly join: (uid: string, namespace: string, sources: readonly LogSource[]) => void;
  readonly leave: (uid: string) => void;
  readonly stop: () => void;
}

/** The pause before a log is read again from its beginning, in ms. */
const PAUSE = 500;
/** The pause between two reports of the part that was read so far, in ms. */
const TOLD_EVERY = 5000;
/** A container that has not started has no log: it is asked for so often. */
const MOST_REFUSALS = 20;

export const impersonating = (namespace: string, serviceAccount: string): Impersonation => ({
  user: `system:serviceaccount:${namespace}:${serviceAccount}`,
});

/** Says why a log cannot be read; undefined: it is worth another try. */
const problemOf = (error: ApiError, refusals: number): string | undefined => {
  if (isAbsent(error)) return "its Pod is gone";
  if (error.type === "refused" && error.code === 400) return refusals < MOST_REFUSALS ? undefined : messageOf(error);
  return classify(error) === "permanent" ? messageOf(error) : undefined;
};

interface Followed {
  readonly aborted: AbortController;
  readonly isOver: boolean;
  /** The part of it that was read so far. */
  log: LogOutput;
  /** The timer until that is told. */
  soon?: NodeJS.Timeout;
}

/**
 * Follows logs while their containers run, and reads them once more when they have ended: that a log ends does not say that its
 * container has, and a long one has lost its beginning by then.
 *
 * @param onLog tells what outputs were read, every five seconds at most; and what was read in the end, and why it is not complete
 */
export const logFollowers = (
  { log: open }: Pick<PodStreams, "log">,
  onLog: (uid: string, phase: string, log: LogOutput) => void,
): LogFollowers => {
  const followed = new Map<string, Map<string, Followed>>();

  const tellSoon = (uid: string, phase: string, one: Followed): void => {
    one.soon ??= setTimeout(() => {
      delete one.soon;
      if (!one.aborted.signal.aborted) onLog(uid, phase, one.log);
    }, TOLD_EVERY);
  };

  /** Reads a log once from its beginning. @param onOutput called when there is another output */
  const read = async (
    namespace: string,
    source: LogSource,
    one: Followed,
    onOutput: () => void,
  ): Promise<E.Either<ApiError, LogOutput>> => {
    const { as, namespace: of, pod, container, isOver } = source;
    const decoder = new TextDecoder();
    const { outputs: former } = one.log;
    let log = NO_LOG;
    const request = {
      namespace: of,
      name: pod,
      container,
      as: impersonating(namespace, as),
      purpose: "read-log",
      follow: !isOver,
    };
    for await (const chunk of open(request, one.aborted.signal)) {
      if (E.isLeft(chunk)) return chunk;
      log = readLog(log, decoder.decode(chunk.right, { stream: true }));
      // A long log has lost its beginning by now.
      if (isOver) continue;
      const outputs = { ...former, ...log.outputs };
      if (!equal(outputs, one.log.outputs)) onOutput();
      one.log = { ...log, outputs };
    }
    return E.right(endLog(readLog(log, decoder.decode())));
  };

  const follow = async (uid: string, namespace: string, source: LogSource, one: Followed): Promise<void> => {
    const { signal } = one.aborted;
    let bytes: number | undefined;
    signal.addEventListener("abort", () => clearTimeout(one.soon), { once: true });
    for (let refusals = 0; !signal.aborted; refusals += 1) {
      const log = await read(namespace, source, one, () => tellSoon(uid, source.phase, one));
      if (signal.aborted) return;
      // A log that is cut short ends like any other: it has to be the same twice.
      if (source.isOver && E.isRight(log) && log.right.bytes !== bytes) {
        bytes = log.right.bytes;
        continue;
      }
      const problem = E.isLeft(log) ? problemOf(log.left, refusals) : undefined;
      if (E.isRight(log)) one.log = { ...log.right, outputs: { ...one.log.outputs, ...log.right.outputs } };
      if (E.isRight(log) || problem !== undefined) {
        const told = problem === undefined ? one.log : { ...one.log, problem: `the log cannot be read: ${problem}` };
        if (source.isOver) onLog(uid, source.phase, { ...told, isEnded: true });
        return;
      }
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
    }
  };

  return {
    join: (uid, namespace, sources) => {
      const own = followed.get(uid) ?? new Map<string, Followed>();
      followed.set(uid, own);
      for (const [phase, { aborted }] of own)
        if (!sources.some((source) => source.phase === phase)) {
          aborted.abort();
          own.delete(phase);
        }
      for (const source of sources) {
        const former = own.get(source.phase);
        if (former?.isOver === source.isOver) continue;
        former?.aborted.abort();
        const one: Followed = { aborted: new AbortController(), isOver: source.isOver, log: former?.log ?? NO_LOG };
        own.set(source.phase, one);
        void follow(uid, namespace, source, one);
      }
    },
    leave: (uid) => {
      for (const { aborted } of followed.get(uid)?.values() ?? []) aborted.abort();
      followed.delete(uid);
    },
    stop: () => {
      for (const own of followed.values()) for (const { aborted } of own.values()) aborted.abort();
      followed.clear();
    },
  };
};
