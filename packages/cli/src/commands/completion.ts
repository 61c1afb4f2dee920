import tab from "@bomb.sh/tab/commander";
import { transactions } from "@janus/controller";
import { type KubeObject, listAll } from "@janus/kube";
import type { Command } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { openCluster } from "../cluster/cluster.ts";

/** Whether the command takes the name of a Transaction first. */
const takesName = ({ registeredArguments: [first] }: Command): boolean => first?.name() === "name";

const flag = (args: readonly string[], ...names: readonly string[]): string | undefined => {
  const at = args.findIndex((arg) => names.includes(arg));
  return at < 0 ? undefined : args[at + 1];
};

/** The Transactions of the namespace; none if they cannot be listed, since an error would not be shown here. */
const namesOf = async (args: readonly string[]): Promise<readonly KubeObject[]> => {
  const namespace = flag(args, "-n", "--namespace");
  const context = flag(args, "--context");
  try {
    const cluster = openCluster({
      ...(namespace === undefined ? {} : { namespace }),
      ...(context === undefined ? {} : { context }),
    });
    const listed = await listAll(cluster.api, {
      resource: transactions,
      namespace: cluster.namespace,
      metadataOnly: true,
      deadline: 2000,
    });
    await cluster.api.close();
    return E.isRight(listed) ? listed.right.items : [];
  } catch {
    return [];
  }
};

/**
 * Adds `completion <shell>`, which prints a script for the shell, and `complete`, which that script calls.
 *
 * @param args of this process, after the program: names are looked up only when one is to be completed.
 */
export const addCompletion = async (program: Command, args: readonly string[]): Promise<void> => {
  const completion = tab(program, { completionCommandName: "completion" });
  const [called, , wanted = ""] = args;
  const isNamed = program.commands.some((command) => command.name() === wanted && takesName(command));
  if (called !== "complete" || !isNamed) return;
  const names = await namesOf(args);
  completion.commands.get(wanted)?.argument("name", (complete) => {
    for (const { metadata } of names) complete(metadata.name ?? "", "");
  });
};
