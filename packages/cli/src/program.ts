import { Command } from "commander";
import { cancelCommand, retryCommand, rollbackCommand } from "./commands/act.ts";
import { applyCommand } from "./commands/apply.ts";
import { describeCommand } from "./commands/describe.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { explainCommand } from "./commands/explain.ts";
import { getCommand } from "./commands/get.ts";
import { planCommand } from "./commands/plan.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { versionCommand } from "./commands/version.ts";
import { watchCommand } from "./commands/watch.ts";

/** In the order of the help. */
const COMMANDS: readonly Command[] = [
  planCommand,
  applyCommand,
  getCommand,
  watchCommand,
  describeCommand,
  explainCommand,
  rollbackCommand,
  retryCommand,
  cancelCommand,
  snapshotCommand,
  doctorCommand,
  versionCommand,
];

/** All commands. `name`: as users call it. */
export const program = (name = "kubectl janus"): Command => {
  const janus = new Command(name)
    .description("Kubernetes changes that happen together or not at all.")
    .showHelpAfterError("(add --help for the flags)")
    .helpCommand(false);
  for (const one of COMMANDS) janus.addCommand(one);
  return janus;
};
