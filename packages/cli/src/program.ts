// Builds the commander program, loading only the command that was called.
import { Command } from "commander";

interface Listed {
  readonly summary: string;
  /** Loaded only when it is called: a command should not wait for what the others need. */
  readonly load: () => Promise<Command>;
}

/** Commands in the order of the help. */
const COMMANDS: Readonly<Record<string, Listed>> = {
  plan: {
    summary: "show what manifests, or a Transaction, would change, and everything that would fail",
    load: async () => (await import("./commands/plan.ts")).planCommand,
  },
  apply: {
    summary: "apply manifests, or a Transaction: all of them or none",
    load: async () => (await import("./commands/apply.ts")).applyCommand,
  },
  edit: {
    summary: "edit a Draft",
    load: async () => (await import("./commands/edit.ts")).editCommand,
  },
  propose: {
    summary: "propose a Draft for approval: its spec can no longer be edited",
    load: async () => (await import("./commands/propose.ts")).proposeCommand,
  },
  approve: {
    summary: "show what a Transaction would do, ask, and have it executed",
    load: async () => (await import("./commands/approve.ts")).approveCommand,
  },
  reject: {
    summary: "set a proposed Transaction back to Draft",
    load: async () => (await import("./commands/reject.ts")).rejectCommand,
  },
  get: {
    summary: "list Transactions, the newest last",
    load: async () => (await import("./commands/get.ts")).getCommand,
  },
  watch: {
    summary: "show the progress of a Transaction until it has finished",
    load: async () => (await import("./commands/watch.ts")).watchCommand,
  },
  describe: {
    summary: "every change with its state, conflicts, gates and lock",
    load: async () => (await import("./commands/describe.ts")).describeCommand,
  },
  explain: {
    summary: "why a Transaction is stuck or has failed, and what to do next",
    load: async () => (await import("./commands/explain.ts")).explainCommand,
  },
  rollback: {
    summary: "roll a Transaction back: an active one, or within its rollbackWindow",
    load: async () => (await import("./commands/act.ts")).rollbackCommand,
  },
  retry: {
    summary: "try the rest of an incomplete rollback again",
    load: async () => (await import("./commands/act.ts")).retryCommand,
  },
  cancel: {
    summary: "stop a Transaction that has changed nothing yet",
    load: async () => (await import("./commands/act.ts")).cancelCommand,
  },
  history: {
    summary: "which Transactions there were, or which changed an object",
    load: async () => (await import("./commands/history.ts")).historyCommand,
  },
  snapshot: {
    summary: "what was there before a Transaction: show it, compare it, bring it back",
    load: async () => (await import("./commands/snapshot.ts")).snapshotCommand,
  },
  run: {
    summary: "run an action of a Blueprint on objects",
    load: async () => (await import("./commands/run.ts")).runCommand,
  },
  actionset: {
    summary: "what ActionSets do: list, watch, explain, stop them",
    load: async () => (await import("./commands/actionset.ts")).actionSetCommand,
  },
  blueprint: {
    summary: "check a Blueprint, see what it renders and which permissions it needs, without a cluster",
    load: async () => (await import("./commands/blueprint.ts")).blueprintCommand,
  },
  profile: {
    summary: "check a Profile, without a cluster",
    load: async () => (await import("./commands/profile.ts")).profileCommand,
  },
  doctor: {
    summary: "whether the installation is sound, and you may use it",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  version: {
    summary: "versions of kubectl-janus, the controller and Kubernetes",
    load: async () => (await import("./commands/version.ts")).versionCommand,
  },
  completion: {
    summary: "print the script that completes commands in a shell",
    load: async () => (await import("./commands/completion.ts")).completionCommand,
  },
};

const root = (name: string): Command =>
  new Command(name)
    .description("Apply sets of Kubernetes changes atomically: all are applied, or all are rolled back.")
    .usage("<command> [flags]")
    .showHelpAfterError("(add --help for the flags)")
    .helpCommand(false);

/** The program with the command that is called; with the names of all of them for the help, if none is. */
export const programFor = async (called: string | undefined): Promise<Command> => {
  const janus = root("kubectl janus");
  const listed = called === undefined ? undefined : COMMANDS[called];
  if (listed !== undefined) return janus.addCommand(named(await listed.load(), listed));
  for (const [name, { summary }] of Object.entries(COMMANDS)) janus.addCommand(new Command(name).description(summary));
  return janus;
};

/** The program with all commands and their flags. */
export const wholeProgram = async (): Promise<Command> => {
  const janus = root("kubectl janus");
  for (const listed of Object.values(COMMANDS)) janus.addCommand(named(await listed.load(), listed));
  return janus;
};

const named = (command: Command, { summary }: Listed): Command => command.description(summary);
