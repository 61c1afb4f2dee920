// The pure part of the runtime: the interface of controllers, and their simulation. It needs no Node.
export type { Claim, Controller, Observed, Passed, Step, Turn } from "./reconcile/controller.ts";
export {
  type Decided,
  type Failure,
  type Simulated,
  simulateController,
  type SimulatedWorld,
} from "./reconcile/simulate.ts";
