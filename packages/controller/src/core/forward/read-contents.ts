// Reads the contents of changes from ConfigMaps and Secrets after a restart.
import { contentsState } from "../state/contents.ts";
import { run, type Step } from "../state/effect.ts";
import type { Journal } from "../state/journal.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { waiting } from "../state/status-progress.ts";

/**
 * Reads the contents of the changes that are in ConfigMaps and Secrets, as after a restart. Undefined: there is nothing to wait for. Those
 * that cannot be used are a reason to stop (`reason-to-stop.ts`).
 */
export const readContents = (context: ReconcileContext, journal: Journal): Step | undefined => {
  const state = contentsState(context);
  switch (state.type) {
    case "requests":
      return run(...state.effects);
    case "wait":
      return waiting(context, journal, state.until, state.because);
    case "complete":
    case "unusable":
      return undefined;
  }
};
