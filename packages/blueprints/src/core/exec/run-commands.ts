// Runs commands in containers of Pods that are there, each at most once: what all functions with a command in a container do.
import { asObject, type JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { MOST_RERUNS } from "../bounds.ts";
import type { ExecSource } from "../effect.ts";
import { show } from "../names.ts";
import { type Access, inquiryOf, keyOf, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { get } from "../requests.ts";
import type { Text } from "../text.ts";
import type { ExecOutcome } from "./exec-outcome.ts";
import { placeOfPod, targetContainer } from "./target-container.ts";
import { type SecretEnv, wordsOverStdin } from "./words-over-stdin.ts";

/** A container, by names. */
export interface CommandPlace {
  readonly namespace: string;
  readonly pod: string;
  /** Absent: that of an annotation of the Pod, else its only one. */
  readonly container?: string;
}

/** A command, and where it runs. */
export interface PlacedCommand extends CommandPlace {
  readonly words: readonly Text[];
  readonly secretEnv?: SecretEnv;
}

/** A command that has come to its end. */
export interface Executed {
  /** The place, such as `Pod shop/db-0, container "db"`. */
  readonly place: string;
  readonly outcome: Extract<ExecOutcome, { readonly type: "exited" }>;
}

/** The API server asks for `get` of a WebSocket, and from 1.36 on for `create`, too. */
export const commandAccess = (namespace: string, pod?: string): readonly Access[] => {
  const of = { group: "", resource: "pods", namespace, ...(pod === undefined ? {} : { name: pod }) };
  return [{ verb: "get", ...of }, ...["get", "create"].map((verb) => ({ verb, ...of, subresource: "exec" }))];
};

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** Fails since nobody knows what a command has done. It has been run again already, if it may be. */
const interrupted = (message: string): PhaseStep => ({ type: "fail", message, isInterrupted: true, isFinal: true });

/** Remembered before anything is sent: who runs the commands, in which try, and in which containers. */
interface Begun {
  readonly process: string;
  readonly tries: number;
  readonly containers: readonly string[];
}

const begunOf = ({ exec }: JsonObject): Begun | undefined =>
  exec === undefined ? undefined : (asObject(exec) as unknown as Begun);

const placeOf = ({ namespace, pod: name }: CommandPlace, container: string): string =>
  `Pod ${show({ namespace, name })}, container "${container}"`;

const hintOf = ({ mayRerun }: PhaseContext, tries: number): string =>
  mayRerun ? `it was sent ${tries} times` : "with onInterrupted: Rerun it would be run again";

const begin = (context: PhaseContext, containers: readonly string[], tries: number): PhaseStep => {
  const exec = { process: context.settings.process, tries, containers };
  return { type: "remember", remembered: { ...context.remembered, exec } };
};

/** Reads all Pods side by side; all that is wrong is in one message. */
const prepare = (context: PhaseContext, places: readonly CommandPlace[]): PhaseStep => {
  const { ask, missing } = inquiryOf(context);
  const targets = places.map(({ namespace, pod, container }) => {
    const ref = placeOfPod(namespace, pod);
    const answer = ask(get("read-pod", `pod/${show(ref)}`, ref, context.serviceAccount));
    return answer === undefined ? E.left("") : targetContainer(ref, answer, container);
  });
  if (missing.length > 0) return { type: "run", effects: missing };
  const problems = targets.flatMap((one) => (E.isLeft(one) ? [one.left] : []));
  return problems.length > 0
    ? fail([...new Set(problems)].join("; "))
    : begin(
        context,
        targets.flatMap((one) => (E.isRight(one) ? [one.right] : [])),
        1,
      );
};

const problemOf = (outcome: ExecOutcome, hasStdin: boolean, hint: string): string | undefined => {
  if (outcome.type === "exited") return undefined;
  if (outcome.type === "lost") return `nobody can tell whether the command has run (${outcome.message}); ${hint}`;
  return outcome.isProgramMissing && hasStdin
    ? "it has no sh, which a command that depends on a Secret needs, so that no URL has it: use a function with a Pod of its own"
    : `the command cannot be run: ${outcome.message}`;
};

/**
 * Guarantees: each command runs at most once in a try, whatever crashes: the journal says that it is on its way before it is sent. There
 *             is a further try only if the phase may be run again.
 * Errors:     a container is not there, or not running; nobody can tell whether a command has run.
 *
 * @returns what is next, or all commands in their order, when they have ended
 */
export const runCommands = (
  context: PhaseContext,
  commands: readonly PlacedCommand[],
): PhaseStep | readonly Executed[] => {
  const begun = begunOf(context.remembered);
  if (begun === undefined) return prepare(context, commands);
  const { process, tries, containers } = begun;
  const isAgain = context.mayRerun && tries <= MOST_RERUNS;
  const hint = hintOf(context, tries);
  const again = (): PhaseStep => begin(context, containers, tries + 1);
  const shown = commands.map((place, at) => placeOf(place, containers[at] ?? ""));
  if (process !== context.settings.process)
    return isAgain
      ? again()
      : interrupted(
          `${shown.join("; ")}: the controller ended while the command was on its way, and nobody can tell whether it has run; ${hint}`,
        );

  const sent = commands.map(({ namespace, pod, words, secretEnv }, at) => ({
    key: `${keyOf(context)}/exec/${tries}/${at}`,
    as: context.serviceAccount,
    namespace,
    pod,
    container: containers[at] ?? "",
    ...wordsOverStdin(words, secretEnv),
  }));
  const outcomes = sent.map(({ key }) => context.executed(key));
  const ended = outcomes.flatMap((outcome, at) => (outcome === undefined ? [] : [{ place: shown[at] ?? "", outcome }]));
  if (ended.length < commands.length)
    return {
      type: "wait",
      until: Number.POSITIVE_INFINITY,
      because: `the command runs in ${shown.filter((_, at) => outcomes[at] === undefined).join("; ")}`,
      execs: sent.map((one, at): ExecSource => ({ ...one, isTold: outcomes[at] !== undefined })),
    };
  if (isAgain && ended.some(({ outcome }) => outcome.type === "lost")) return again();
  const problems = ended.flatMap(({ place, outcome }, at) => {
    const problem = problemOf(outcome, sent[at]?.stdin !== undefined, hint);
    return problem === undefined ? [] : [`${place}: ${problem}`];
  });
  const isLost = ended.some(({ outcome }) => outcome.type === "lost");
  if (problems.length > 0) return (isLost ? interrupted : fail)(problems.join("; "));
  return ended.flatMap(({ place, outcome }) => (outcome.type === "exited" ? [{ place, outcome }] : []));
};

/** Says why a command has not succeeded. Undefined: it has. */
export const failureOfCommand = ({ place, outcome: { exitCode, stdout, stderr } }: Executed): string | undefined => {
  const { tail } = stderr.tail.length > 0 ? stderr : stdout;
  if (exitCode !== 0)
    return `${place}: the command exited with ${exitCode}${tail.length === 0 ? "" : `; last lines: ${tail.join("\n")}`}`;
  return stdout.problem === undefined ? undefined : `${place}: ${stdout.problem}`;
};

/** Ends with the outputs of all commands, later ones replace earlier ones; or with all that has failed. */
export const commandOutputs = (context: PhaseContext, commands: readonly PlacedCommand[]): PhaseStep => {
  const done = runCommands(context, commands);
  if ("type" in done) return done;
  const failures = done.flatMap((one) => failureOfCommand(one) ?? []);
  return failures.length > 0
    ? fail(failures.join("; "))
    : {
        type: "end",
        output: Object.assign({}, ...done.map(({ outcome }) => outcome.stdout.outputs)) as Record<string, string>,
      };
};
