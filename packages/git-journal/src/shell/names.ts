// The names of this controller, as the runtime is given them.
import type { ControllerNames } from "@janus/runtime/parts";

export const NAMES: ControllerNames = {
  product: "Janus",
  prefix: "janus_git_journal",
  reportingComponent: "janus-git-journal",
  objects: "GitDestinations",
};
