// Decides when a CustomResourceDefinition is ready: its kind is served.
import type { KubeObject } from "@janus/types";
import { failed, type GateState, met, notYet } from "./gate-state.ts";
import { conditionsOf, describeCondition } from "./object-conditions.ts";

/** Ready: its kind is served. A name that is taken is not waited for. */
export const readyCustomResourceDefinition = (definition: KubeObject): GateState => {
  for (const condition of conditionsOf(definition)) {
    const { type, status, reason } = condition;
    if (type === "NamesAccepted" && status === "False") return failed(describeCondition(condition));
    if (type !== "Established") continue;
    if (status === "False" && reason !== "Installing") return failed(describeCondition(condition));
    if (status === "True") return met;
  }
  return notYet("not established yet");
};
