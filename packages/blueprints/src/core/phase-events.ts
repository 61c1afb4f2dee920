// Tells what has happened between two versions of a journal, as events.
import type { ActionSpec } from "../api/action-set.ts";
import type { StepEvent } from "./effect.ts";
import type { Journal, PhaseRecord } from "./journal.ts";
import type { PhaseId } from "./phase-context.ts";
import { phaseAt } from "./phase-step.ts";
import { recordOf } from "./schedule.ts";

const idText = ({ action, phase }: PhaseId): string => `${action}/${phase}`;

/** Warns of the failure of an action, on its Blueprint, too. */
export const failureOf = (action: ActionSpec | undefined, message: string, step: string): StepEvent => ({
  type: "Warning",
  reason: `ActionSetFailed Action: ${action?.name ?? ""}`,
  message,
  step,
  ...(action?.blueprint === undefined ? {} : { blueprint: action.blueprint }),
});

/** Tells of outputs that are not shown as they are. */
const redaction = ({ output = {}, shown }: PhaseRecord, phase: string, step: string): readonly StepEvent[] => {
  if (shown === undefined) return [];
  const keys = Object.keys(shown).filter((key) => output[key] !== shown[key]);
  const message = `phase ${phase}: ${keys.join(", ")}: an output has the value of a Secret, and is shown as ***; later phases have it`;
  return [{ type: "Warning", reason: "SecretRedacted", message, step: `${step}/redacted` }];
};

/** Tells what has become of what a phase had changed. */
const rollbackEvents = (
  { rollback, attempt }: PhaseRecord,
  phase: string,
  id: string,
  action: ActionSpec | undefined,
): readonly StepEvent[] => {
  const step = `${id}/rolled-back/${attempt}`;
  if (rollback?.state === "done")
    return [{ type: "Normal", reason: "Rolled Back Phase", message: `Rolled back phase ${phase}`, step, phase }];
  if (rollback?.state !== "incomplete") return [];
  return [{ ...failureOf(action, `Failed to roll back phase ${phase}: ${rollback.message ?? ""}`, step), phase }];
};

/** Kanister's events for what is different in the later journal. */
export const eventsBetween = (before: Journal | undefined, after: Journal): readonly StepEvent[] =>
  after.actions.flatMap(({ phases, deferPhase }, action): readonly StepEvent[] => {
    const name = after.spec.actions?.[action]?.name ?? "";
    const hadBegun = before?.actions[action]?.phases.some(({ state }) => state !== "pending") === true;
    const hasBegun = phases.some(({ state }) => state !== "pending");
    const isComplete = (journal: Journal | undefined): boolean => {
      const own = journal?.actions[action];
      return (
        own !== undefined &&
        own.phases.every(({ state }) => state === "complete") &&
        (own.deferPhase === undefined || own.deferPhase.state === "complete")
      );
    };
    const of = (record: PhaseRecord, phase: number | "defer"): readonly StepEvent[] => {
      const id = { action, phase };
      const was = before === undefined ? undefined : recordOf(before, id);
      const shown = phaseAt(after, id).name ?? "";
      if (was !== undefined && record.rollback !== undefined && record.rollback.state !== was.rollback?.state)
        return rollbackEvents(record, shown, idText(id), after.spec.actions?.[action]);
      if (was?.state === record.state) return [];
      const [started, ended, what] =
        phase === "defer"
          ? ["Started deferPhase", "Ended deferPhase", "deferPhase"]
          : ["Started Phase", "Ended Phase", "phase"];
      const step = `${idText(id)}/${record.state}`;
      if (record.state === "running")
        return [{ type: "Normal", reason: started, message: `Executing ${what} ${shown}`, step, phase: shown }];
      if (record.state === "complete")
        return [
          { type: "Normal", reason: ended, message: `Completed ${what} ${shown}`, step, phase: shown },
          ...redaction(record, shown, step),
        ];
      const cause = (record.message ?? "").replace(/^(deferPhase|phase) [^:]*: /u, "");
      if (record.state === "retrying")
        return [
          {
            type: "Warning",
            reason: "Retrying Phase",
            message: `Phase ${shown} has failed, and is executed again at ${record.retryAt ?? ""}: ${cause}`,
            step: `${step}/${record.attempt}`,
            phase: shown,
          },
        ];
      if (record.state !== "failed") return [];
      return [
        {
          ...failureOf(after.spec.actions?.[action], `Failed to execute ${what} ${shown}: ${cause}`, step),
          phase: shown,
        },
      ];
    };
    return [
      ...(hasBegun && !hadBegun
        ? [
            {
              type: "Normal" as const,
              reason: "Started Action",
              message: `Executing action ${name}`,
              step: `${action}/started`,
            },
          ]
        : []),
      ...phases.flatMap(of),
      ...(deferPhase === undefined ? [] : of(deferPhase, "defer")),
      ...(isComplete(after) && !isComplete(before)
        ? [
            {
              type: "Normal" as const,
              reason: "Ended Action",
              message: `Completed action ${name}`,
              step: `${action}/ended`,
            },
          ]
        : []),
    ];
  });
