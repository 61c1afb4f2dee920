// Says of an ActionSet what it does, why, and what to do next.
import { type ActionSet, cannotAbandon } from "@janus/blueprints/authoring";

export interface ActionSetStory {
  readonly what: string;
  readonly why?: string;
  readonly next: string;
}

const WHAT: Readonly<Record<string, string>> = {
  pending: "It has not begun.",
  running: "It is running.",
  complete: "It is complete.",
  failed: "It has failed.",
};

const nextOf = (actionSet: ActionSet): string => {
  const { metadata, status } = actionSet;
  const on = `${metadata.name} -n ${metadata.namespace}`;
  if (status?.state === "complete")
    return `nothing to do; to go on from its artifacts: kubectl janus run BLUEPRINT ACTION --from ${on}`;
  if (status?.state === "failed")
    return status.error?.message?.startsWith("nothing was run: ") === true
      ? "correct what is wrong, and run it again: nothing was changed"
      : "correct the cause, and run it again, in a new ActionSet";
  if (metadata.deletionTimestamp !== undefined) return "wait: it is being deleted, its deferPhases run";
  if (cannotAbandon(actionSet) === undefined)
    return `it was running under another controller, and nobody goes on with it: kubectl janus actionset abandon ${on}`;
  return status?.state === undefined
    ? "wait; if it stays so, no controller of Blueprints watches this namespace"
    : `wait: kubectl janus actionset watch ${on}; to stop it: kubectl janus actionset delete ${on}`;
};

/** What is waited for: of a running one the controller says it. */
const whyOf = ({ status }: ActionSet): string | undefined =>
  status?.error?.message ??
  status?.conditions?.find(({ type, status: is }) => type === "Reconciling" && is === "True")?.message ??
  (status?.progress?.runningPhase ? `phase ${status.progress.runningPhase}` : undefined);

export const actionSetStory = (actionSet: ActionSet): ActionSetStory => {
  const { status } = actionSet;
  const { percentCompleted } = status?.progress ?? {};
  const done = status?.state === "running" && percentCompleted ? ` (${percentCompleted} %)` : "";
  const why = whyOf(actionSet);
  return {
    what: `${WHAT[status?.state ?? "pending"] ?? `It is ${status?.state}.`}${done}`,
    ...(why === undefined ? {} : { why }),
    next: nextOf(actionSet),
  };
};
