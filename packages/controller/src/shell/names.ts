// The names of this controller, of its fence and of what it reconciles, as the runtime is given them.
import { FENCE_CHECK, FENCE_KEY, POLICIES, REPORTING_COMPONENT } from "@janus/api";
import type { FenceNames, ControllerNames } from "@janus/runtime/parts";

export const CONTROLLER_NAMES: ControllerNames = {
  product: "Janus",
  prefix: "janus",
  reportingComponent: REPORTING_COMPONENT,
  objects: "Transactions",
};

export const FENCE_NAMES: FenceNames = { key: FENCE_KEY, policy: POLICIES.fence, check: FENCE_CHECK };
