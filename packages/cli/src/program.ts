import { Command } from "commander";
import { applyCommand } from "./commands/apply.ts";
import { planCommand } from "./commands/plan.ts";

/** All commands of `kubectl janus`. */
export const program = (): Command => {
  const janus = new Command("kubectl janus")
    .description("Kubernetes changes that happen together or not at all.")
    .showHelpAfterError("(add --help for the flags)")
    .helpCommand(false);
  for (const one of [planCommand, applyCommand]) janus.addCommand(one);
  return janus;
};
