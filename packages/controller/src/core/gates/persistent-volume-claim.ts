import type { KubeObject } from "@janus/types";
import { type GateState, met, notYet } from "./gate-state.ts";
import { textAt } from "./read-fields.ts";

/** Ready: it is bound to a volume. */
export const readyPersistentVolumeClaim = (claim: KubeObject): GateState => {
  const phase = textAt(claim, "status", "phase");
  if (phase === "Bound") return met;
  return notYet(phase === "" ? "not bound to a volume yet" : `not bound to a volume: phase ${phase}`);
};
