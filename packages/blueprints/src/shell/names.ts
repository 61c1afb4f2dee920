// The names of this controller, as the runtime is given them.
import type { ControllerNames } from "@janus/runtime/parts";

export const NAMES: ControllerNames = {
  product: "Janus",
  prefix: "janus_blueprints",
  reportingComponent: "janus-blueprints",
  objects: "ActionSets",
};
