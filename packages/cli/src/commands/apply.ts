// The command apply: makes a Transaction of manifests, runs it and shows its progress.
import { Option } from "commander";
import { exitWith } from "./exit-with.ts";
import { manifestCommand, type ManifestFlags } from "./flags.ts";
import { onComposed } from "./manifest-flags.ts";
import { type RunFlags, runTransaction } from "./run-transaction.ts";

type ApplyFlags = ManifestFlags & RunFlags;

const apply = async (flags: ApplyFlags): Promise<number> =>
  onComposed(flags, (cluster, composed) => runTransaction(cluster, composed, flags));

export const applyCommand = manifestCommand("apply")
  .addOption(
    new Option("-o, --output <format>", "json: one event per line; name: the name alone").choices(["json", "name"]),
  )
  .option("--no-wait", "do not wait until it has finished")
  .addHelpText(
    "after",
    `
As kubectl janus plan, and then executes it: a Transaction is created, and its
progress is shown until it has finished. If anything cannot be applied,
everything is rolled back. Ctrl-C ends the display, not the Transaction.

Exit codes: 0 Committed, 2 RolledBack, 3 Failed, 1 nothing was started,
5 not known: it may have been created, was deleted, or cannot be watched,
130 interrupted.

Examples:
  kubectl janus apply -f shop/ --wait-for ready
  kubectl janus apply -f shop/ --replace
  kubectl janus apply -f shop/ --prune -l app.kubernetes.io/part-of=shop
  helm template shop ./chart | kubectl janus apply -f -`,
  )
  .action((flags: ApplyFlags) => exitWith(apply(flags)));
