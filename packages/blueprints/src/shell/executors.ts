// Executes the commands that phases wait for, and reports how they have ended.
import { setTimeout as sleep } from "node:timers/promises";
import type { PodStreams } from "@janus/kube";
import { retryAfterOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { endedBy, endLog, type ExecOutcome, type ExecSource, isUnstarted, NO_LOG, readLog } from "../core/index.ts";
import { impersonating } from "./log-followers.ts";

export interface Executors {
  /** Executes these commands for an ActionSet, and no longer any others: their connections are closed. */
  readonly join: (uid: string, namespace: string, sources: readonly ExecSource[]) => void;
  /** Forgets an ActionSet, but not commands that run, or whose end is not known yet: it may be read again. */
  readonly leave: (uid: string) => void;
  readonly stop: () => void;
}

/** The pause before a command that has not been started is tried again, in ms. */
const PAUSE = 500;

interface Execution {
  readonly aborted: AbortController;
  outcome: ExecOutcome | undefined;
}

const CLOSED: ExecOutcome = { type: "lost", message: "its connection was closed" };

/**
 * Guarantees: each command is started once, by its key, whatever is forgotten of its ActionSet meanwhile; it is tried again only where it has
 *             certainly not been started. How it ended is told until that is known.
 */
export const executors = (
  { exec: open }: Pick<PodStreams, "exec">,
  onEnd: (uid: string, key: string, outcome: ExecOutcome) => void,
): Executors => {
  const started = new Map<string, Map<string, Execution>>();

  /** Executes a command once. A number: it is to be tried again, after so many ms. */
  const attempt = async (
    namespace: string,
    { as, namespace: of, pod, container, command, stdin }: ExecSource,
    signal: AbortSignal,
  ): Promise<ExecOutcome | number> => {
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    const logs = { stdout: NO_LOG, stderr: NO_LOG };
    const request = {
      namespace: of,
      name: pod,
      container,
      command,
      as: impersonating(namespace, as),
      purpose: "exec",
      ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
    };
    let hasBegun = false;
    for await (const event of open(request, signal)) {
      if (E.isLeft(event))
        return !hasBegun && isUnstarted(event.left) ? Math.max(PAUSE, retryAfterOf(event.left)) : endedBy(event.left);
      hasBegun = true;
      const { right } = event;
      if (right.type === "exited") {
        const [stdout, stderr] = (["stdout", "stderr"] as const).map((name) =>
          endLog(readLog(logs[name], decoders[name].decode())),
        );
        return { type: "exited", exitCode: right.exitCode, stdout: stdout ?? NO_LOG, stderr: stderr ?? NO_LOG };
      }
      const { type, bytes } = right;
      logs[type] = readLog(logs[type], decoders[type].decode(bytes, { stream: true }));
    }
    return CLOSED;
  };

  const execute = async (uid: string, namespace: string, source: ExecSource, one: Execution): Promise<void> => {
    const { signal } = one.aborted;
    for (;;) {
      const end = await attempt(namespace, source, signal);
      if (signal.aborted) return;
      if (typeof end !== "number") {
        one.outcome = end;
        return onEnd(uid, source.key, end);
      }
      await sleep(end, undefined, { signal }).catch(() => undefined);
    }
  };

  return {
    join: (uid, namespace, sources) => {
      const own = started.get(uid) ?? new Map<string, Execution>();
      for (const [key, one] of own) {
        if (sources.some((source) => source.key === key)) continue;
        if (one.outcome !== undefined && one.outcome !== CLOSED) own.delete(key);
        // The command may have been started: should it be asked for again, it is not started again.
        one.aborted.abort();
        one.outcome = CLOSED;
      }
      for (const source of sources) {
        const there = own.get(source.key);
        if (there === undefined) {
          const one = { aborted: new AbortController(), outcome: undefined };
          own.set(source.key, one);
          void execute(uid, namespace, source, one);
        } else if (there.outcome !== undefined && !source.isTold) onEnd(uid, source.key, there.outcome);
      }
      if (own.size === 0) started.delete(uid);
      else started.set(uid, own);
    },
    leave: (uid) => {
      if ([...(started.get(uid)?.values() ?? [])].every(({ outcome }) => outcome === CLOSED)) started.delete(uid);
    },
    stop: () => {
      for (const own of started.values()) for (const { aborted } of own.values()) aborted.abort();
    },
  };
};
