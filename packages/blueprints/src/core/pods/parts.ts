// Several Pods of one phase, side by side: each is a part, which remembers, asks and logs under a name of its own.
import { asObject, type JsonObject, pods } from "@janus/types";
import type { PhaseContext, PhaseStep } from "../phase-context.ts";
import type { ObjectRef } from "../requests.ts";

const PARTS = "parts";

/** The context of one of its Pods: as if it were the only one. */
const partOf = (context: PhaseContext, part: number): PhaseContext => ({
  ...context,
  part,
  remembered: asObject(asObject(context.remembered[PARTS])[part]),
  log: context.logOf(part),
  seen: {},
  fact: (name) => context.fact(`${part}/${name}`),
  trouble: (name) => context.trouble(`${part}/${name}`),
});

type StepOf<T extends PhaseStep["type"]> = Extract<PhaseStep, { readonly type: T }>;

/**
 * Decides what is next in all of them.
 *
 * Guarantees: all are executed, whatever becomes of the others; a failure has the messages of all that have failed.
 *
 * @param parts what is next in each, always in the same order
 */
export const sideBySide = (context: PhaseContext, parts: readonly ((own: PhaseContext) => PhaseStep)[]): PhaseStep => {
  const steps = parts.map((step, part) => step(partOf(context, part)));
  const of = <T extends PhaseStep["type"]>(type: T): readonly StepOf<T>[] =>
    steps.filter((one): one is StepOf<T> => one.type === type);
  const remembers = steps.flatMap((one, part) => (one.type === "remember" ? [[`${part}`, one.remembered]] : []));
  if (remembers.length > 0) {
    const parts = { ...asObject(context.remembered[PARTS]), ...Object.fromEntries(remembers) } as JsonObject;
    return { type: "remember", remembered: { ...context.remembered, [PARTS]: parts } };
  }
  const effects = of("run").flatMap((one) => one.effects);
  if (effects.length > 0) return { type: "run", effects };
  const waits = of("wait");
  if (waits.length > 0)
    return {
      type: "wait",
      until: Math.min(...waits.map(({ until }) => until)),
      because: waits.map(({ because }) => because).join("; "),
      watched: waits.flatMap(({ watched }) => watched ?? []),
      follow: waits.flatMap(({ follow }) => follow ?? []),
    };
  const failures = of("fail");
  if (failures.length > 0)
    return {
      type: "fail",
      message: [...new Set(failures.map(({ message }) => message))].join("; "),
      ...(failures.some(({ isInterrupted }) => isInterrupted === true) ? { isInterrupted: true } : {}),
    };
  return { type: "end", output: Object.assign({}, ...of("end").map(({ output }) => output)) as Record<string, string> };
};

/** A Pod that a phase has made. */
export interface MadePod {
  /** The number of this one among several. */
  readonly part?: string;
  readonly ref: ObjectRef;
  readonly uid: string;
}

const madePod = (remembered: JsonObject): readonly MadePod[] => {
  const { namespace = "", name = "", uid } = asObject(remembered["pod"]);
  const ref = { resource: pods, namespace: namespace as string, name: name as string };
  return typeof uid === "string" ? [{ ref, uid }] : [];
};

/** Returns all Pods that a phase remembers to have made. */
export const madePods = (remembered: JsonObject): readonly MadePod[] => [
  ...madePod(remembered),
  ...Object.entries(asObject(remembered[PARTS])).flatMap(([part, one]) =>
    madePod(asObject(one)).map((pod) => ({ part, ...pod })),
  ),
];
