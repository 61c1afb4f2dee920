// Says in lines how far an ActionSet is.
import type { ActionSet } from "@janus/blueprints/authoring";

/** The state of each phase, and of the whole in the end: what is new since another list is what has happened. */
export const actionSetLines = ({ status }: ActionSet): readonly string[] => {
  const actions = status?.actions ?? [];
  const phases = actions.flatMap(({ name = "", phases: all = [], deferPhase }) =>
    [...all, ...(deferPhase === undefined ? [] : [deferPhase])]
      .filter(({ state = "pending" }) => state !== "pending")
      .map(({ name: phase = "", state = "" }) => `${actions.length > 1 ? `${name}: ` : ""}phase ${phase}: ${state}`),
  );
  const { state = "", error } = status ?? {};
  const message = error?.message === undefined ? "" : `: ${error.message}`;
  return ["complete", "failed"].includes(state) ? [...phases, `${state}${message}`] : phases;
};

/** The lines of `after` that `before` has not: the same line of another action counts for itself. */
export const added = (before: readonly string[], after: readonly string[]): readonly string[] => {
  const left = [...before];
  return after.filter((line) => {
    const at = left.indexOf(line);
    if (at === -1) return true;
    left.splice(at, 1);
    return false;
  });
};

/** What phases have put out, and artifacts, by their names as templates have them. */
export const outputLines = ({ status }: ActionSet): readonly string[] =>
  (status?.actions ?? []).flatMap(({ phases = [], deferPhase, artifacts = {} }) => [
    ...[...phases, ...(deferPhase === undefined ? [] : [deferPhase])].flatMap(({ name = "", output = {} }) =>
      Object.entries(output).map(
        ([key, value]) => `phase ${name}: ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
      ),
    ),
    ...Object.entries(artifacts).flatMap(([name, { keyValue = {} }]) =>
      Object.entries(keyValue).map(([key, value]) => `artifact ${name}: ${key}=${value}`),
    ),
  ]);
