// Generates the reference page of all commands from their help.
import type { Command } from "commander";

/** The output of `--help`, in 80 columns and without colour. */
const helpOf = (command: Command): string => {
  let text = "";
  command.configureOutput({
    writeOut: (part) => void (text += part),
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trimEnd();
};

const block = (command: Command, path: string): string =>
  [`## ${path}`, "", "```text", helpOf(command), "```", ""].join("\n");

/** The command, or its subcommands: a command that has some does nothing itself. */
const blocks = (command: Command, parent: string): readonly string[] => {
  const path = `${parent} ${command.name()}`;
  const { commands } = command;
  return commands.length === 0
    ? [block(command, path)]
    : commands.flatMap((one) => (one.name() === "help" ? [] : blocks(one, path)));
};

/** The page of all commands, as their `--help` prints them. */
export const commandReference = (program: Command): string =>
  [
    "<!-- Printed from packages/cli/src/commands: change it there, and run `npm run reference:write`. -->",
    "",
    "# Reference of `kubectl janus`",
    "",
    "Every command with its flags and exit codes, as `--help` prints them; `kubectl janus help COMMAND` does, too. How to",
    "install it, and a tour: [The command line](../cli.md).",
    "",
    ...program.commands.flatMap((command) => blocks(command, "kubectl janus")),
  ].join("\n");
