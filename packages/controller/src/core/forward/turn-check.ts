// The result of a check that is made right before a change: passed, pending or failed.
import type { Step } from "../state/effect.ts";

/** A check that is made in the turn of a change: what it needs an earlier change may have brought. */
export type TurnCheck =
  | { readonly type: "passed" }
  /** It is not decided yet. */
  | { readonly type: "pending"; readonly step: Step }
  /** The change must not be sent. */
  | { readonly type: "failed"; readonly why: string };

export const passed: TurnCheck = { type: "passed" };
export const pending = (step: Step): TurnCheck => ({ type: "pending", step });
export const failed = (why: string): TurnCheck => ({ type: "failed", why });
