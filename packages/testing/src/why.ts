// Formats how a Transaction ended: the message of an assertion that fails.
import type { Simulation } from "./simulation.ts";

const phrase = (...words: readonly (string | undefined)[]): string =>
  words.filter((word) => word !== undefined && word !== "").join(": ");

/** The phase with its reason and message, then a line for each change that has an error; refusals are all in the message. */
export const whyOf = ({
  phase,
  problems,
  conditions,
  items,
}: Pick<Simulation, "phase" | "problems" | "conditions" | "items">): string => {
  const ready = conditions.find(({ type }) => type === "Ready");
  const reason = ready?.reason === phase ? undefined : ready?.reason;
  const errors = items.flatMap(({ target, state, error }, index) =>
    error === undefined || state === "Refused" ? [] : [`changes[${index}] ${phrase(target, state, error)}`],
  );
  return [phrase(phase, reason, ready?.message ?? problems.join("; ")), ...errors].join("\n  ");
};
