// The context of the change that is being applied.
import type { KubeObject } from "@janus/types";
import type { Journal } from "../state/journal.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";

/** A change that is being applied. */
export interface ChangeContext extends ResolvedItem {
  readonly context: ReconcileContext;
  readonly journal: Journal;
  readonly before: KubeObject | undefined;
}
