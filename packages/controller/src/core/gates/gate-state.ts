/** The state of a gate for one version of its object. */
export type GateState =
  | { readonly type: "met" }
  | { readonly type: "waiting"; readonly message: string }
  /** It can no longer meet the gate. */
  | { readonly type: "failed"; readonly message: string };

export const met: GateState = { type: "met" };
export const notYet = (message: string): GateState => ({ type: "waiting", message });
export const failed = (message: string): GateState => ({ type: "failed", message });

/** `reason: message`, or whichever there is. */
export const because = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(": ");
