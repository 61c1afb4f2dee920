// A controller and other clients who act in the order of a schedule of the model.
import type { Api, Hook, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type FaultOf, nameOf } from "./crashing-process.ts";

/** One line of a schedule of the model (`tests/unit/model/run-effects.ts`). A key is `<Kind> <namespace>/<name>`. */
type Line =
  | { readonly is: "request"; readonly name: string; readonly key: string; readonly answer: Answer }
  | { readonly is: "death"; readonly late: boolean }
  /** Of a write that was given up. */
  | { readonly is: "arrival"; readonly key: string }
  | { readonly is: "action"; readonly action: string; readonly key: string };

type Answer = "ok" | "refused" | "unmade" | "made" | "under way" | "denied";

const LOST: Readonly<Record<string, Answer>> = {
  ok: "ok",
  "no answer, and it was not made": "unmade",
  "no answer, though it was made": "made",
  "no answer, it is still under way": "under way",
  "denied by admission": "denied",
};

/** They happen by themselves. */
const ELSE = /^(waits|the process sees that|what was under way never arrives|a former leader's)/;

const keyIn = (name: string): string => name.split(" ").slice(-2).join(" ");

const parse = (text: string): readonly Line[] => {
  const line = text.trim();
  const death = /^the process dies; (long after, )?another one takes over$/.exec(line);
  if (death !== null) return [{ is: "death", late: death[1] !== undefined }];
  const arrival = /^the \w+ (\S+ \S+) that was given up arrives late/.exec(line)?.[1];
  if (arrival !== undefined) return [{ is: "arrival", key: arrival }];
  const [, action, key] = /^somebody (.+) (\S+ \S+)$/.exec(line) ?? [];
  if (action !== undefined && key !== undefined) return [{ is: "action", action, key }];
  const [, flying] = /^(\S+: .+) is under way$/.exec(line) ?? [];
  if (flying !== undefined) return [{ is: "request", name: flying, key: keyIn(flying), answer: "under way" }];
  const [name, answer] = line.split(" → ");
  if (name !== undefined && answer !== undefined)
    return [{ is: "request", name, key: keyIn(name), answer: LOST[answer] ?? "refused" }];
  if (ELSE.test(line)) return [];
  throw new Error(`a schedule cannot be replayed with this line: ${line}`);
};

export interface Replayer {
  readonly faultOf: FaultOf;
  readonly hook: Hook;
  /** Runs what comes before the first request. */
  readonly begin: () => Promise<void>;
  /** Whether the last one that has died is to be missed for a long time. */
  readonly isLongAgo: () => boolean;
  /** What has not come to pass. */
  readonly left: () => readonly Line[];
}

const unanswered = (cause: "deadline" | "connection") =>
  E.left({ type: "unanswered", cause, message: "lost" } as const);
const DENIED = E.left({
  type: "refused",
  code: 422,
  reason: "Invalid",
  message: "denied by admission",
  causes: [],
} as const);

/**
 * Replays a schedule of the model on the real API server: each line at the first moment at which it can, in order.
 *
 * @param inModelNames a text of the real world in the model's names
 * @param act does what somebody does to the object with this key
 */
export const newReplayer = (
  schedule: readonly string[],
  send: Api["send"],
  inModelNames: (text: string) => string,
  act: (action: string, key: string) => Promise<void>,
): Replayer => {
  const lines = schedule.flatMap(parse);
  const flights = new Map<string, Request>();
  let at = 0;
  let isLongAgo = false;

  const inModel = (request: Request): string => {
    const dryRun = "dryRun" in request && request.dryRun ? " (dry run)" : "";
    const kind = "resource" in request ? request.resource.kind : "";
    const space = "namespace" in request ? (request.namespace ?? "") : "";
    return inModelNames(`${request.purpose}: ${request.verb}${dryRun} ${kind} ${space}/${nameOf(request)}`);
  };

  /** The next line that is a request; others come before it. */
  const next = (): number => lines.findIndex((line, n) => n >= at && line.is === "request");

  const isNext = (request: Request): boolean => {
    const line = lines[next()];
    const only = lines.slice(at, next()).every(({ is }) => is !== "death");
    return line?.is === "request" && only && line.name === inModel(request);
  };

  const happen = async (line: Line): Promise<void> => {
    if (line.is === "action") await act(line.action, line.key);
    if (line.is === "arrival") {
      const flight = flights.get(line.key);
      if (flight !== undefined) await send(flight);
    }
  };

  /** What people and the network do next; as late as possible where a request for the same object is to meet it. */
  const meanwhile = async (): Promise<void> => {
    for (let line = lines[at]; line?.is === "action" || line?.is === "arrival"; line = lines[at]) {
      const request = lines[next()];
      if (request?.is === "request" && request.key === line.key) return;
      at += 1;
      await happen(line);
    }
  };

  const come = async (n: number): Promise<void> => {
    at = n + 1;
    const line = lines[at];
    if (line?.is === "death") {
      at += 1;
      isLongAgo = line.late;
    }
    await meanwhile();
  };

  return {
    begin: meanwhile,
    isLongAgo: () => isLongAgo,
    left: () => lines.slice(at),
    faultOf: (_, request) => (isNext(request) && lines[next() + 1]?.is === "death" ? "after" : undefined),
    hook: async (request, pass) => {
      if (!isNext(request)) return pass(request);
      const n = next();
      const line = lines[n];
      for (const before of lines.slice(at, n)) await happen(before);
      at = n;
      switch (line?.is === "request" ? line.answer : "ok") {
        case "under way":
          flights.set(keyIn(inModel(request)), request);
          await come(n);
          return unanswered("deadline");
        case "unmade":
          await come(n);
          return unanswered("connection");
        case "denied":
          await come(n);
          return DENIED;
        case "made": {
          await pass(request);
          await come(n);
          return unanswered("connection");
        }
        case "ok":
        case "refused": {
          const answer = await pass(request);
          const asked = line?.is === "request" && line.answer === "ok";
          if (E.isRight(answer) === asked) await come(n);
          return answer;
        }
      }
    },
  };
};
