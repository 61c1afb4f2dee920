// The command completion: prints the completion script of a shell.
import { script } from "@bomb.sh/tab";
import { Argument, Command } from "commander";

const PROGRAM = "kubectl-janus";
const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** The script calls `kubectl-janus complete`. */
const print = (shell: string): void => {
  script(shell, PROGRAM, PROGRAM);
  // So that the shell completes files where nothing else is to come.
  if (shell === "bash") process.stdout.write(`complete -o default -F __kubectl_janus_complete ${PROGRAM}\n`);
};

export const completionCommand = new Command("completion")
  .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
  .addHelpText(
    "after",
    `
kubectl completes "kubectl janus" by itself, with kubectl_complete-janus on the
PATH. This is for calling kubectl-janus directly:
  source <(kubectl-janus completion bash)`,
  )
  .action(print);
