// Decides when a Job is ready: it is complete.
import type { KubeObject } from "@janus/types";
import { because, failed, type GateState, met, notYet } from "./gate-state.ts";
import { conditionsOf } from "./object-conditions.ts";
import { integerAt, textAt, valueAt } from "./read-fields.ts";

/** Ready: it is complete. kstatus is content with a Job that has started. */
export const readyJob = (job: KubeObject): GateState => {
  const last = conditionsOf(job).find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
  if (last !== undefined) return last.type === "Complete" ? met : failed(because("failed", last.reason, last.message));
  if (valueAt(job, "spec", "suspend") === true) return notYet("suspended");
  if (textAt(job, "status", "startTime") === "") return notYet("not started yet");

  const completions = integerAt(job, "spec", "completions") ?? integerAt(job, "spec", "parallelism") ?? 1;
  const failures = integerAt(job, "status", "failed") ?? 0;
  const succeeded = `${integerAt(job, "status", "succeeded") ?? 0} of ${completions} Pods succeeded`;
  return notYet(failures === 0 ? succeeded : `${succeeded}, ${failures} failed`);
};
