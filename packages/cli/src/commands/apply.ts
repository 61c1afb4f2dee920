import { transactions } from "@janus/controller";
import { Option } from "commander";
import { sent } from "../cluster/cluster.ts";
import { outputTo, painter } from "../output/style.ts";
import { planExitCode, planReport } from "../plan/plan-report.ts";
import { runPreview } from "../plan/run-preview.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";
import { exitWith } from "./exit-with.ts";
import { manifestCommand, type ManifestFlags } from "./flags.ts";
import { composed } from "./manifest-flags.ts";

interface ApplyFlags extends ManifestFlags {
  readonly output?: "json" | "name";
  readonly wait: boolean;
}

const apply = async (flags: ApplyFlags): Promise<number> => {
  const { cluster, manifest } = await composed(flags);
  const { namespace } = cluster;
  const { name } = manifest.metadata;
  const output = outputTo(process.stdout);
  try {
    const previewed = await runPreview(cluster, manifest, namespace);
    if (planExitCode(previewed) === 2) {
      const errors = outputTo(process.stderr);
      errors.write(planReport(previewed, painter(errors), errors.width));
      return 1;
    }
    const body = manifest;
    await sent(
      cluster.api,
      { verb: "create", resource: transactions, namespace, body, fieldManager: "kubectl-janus" },
      `cannot create Transaction ${namespace}/${name}`,
    );
    if (flags.output === "name") output.write(`transaction.backup.janus.io/${name}\n`);
    if (!flags.wait) return 0;
    const isJson = flags.output === "json";
    return exitCodeOf(await showProgress(cluster, name, { output, isJson }));
  } finally {
    await cluster.api.close();
  }
};

export const applyCommand = manifestCommand("apply", "apply manifests, or a Transaction, all of them or none")
  .addOption(new Option("-o, --output <format>", "json: one event per line; name: the name alone").choices(["json", "name"]))
  .option("--no-wait", "do not wait until it has finished")
  .addHelpText(
    "after",
    `
As kubectl janus plan, and then it is done: a Transaction is created, and its progress is shown until it has finished.
If anything cannot be applied, everything is put back. Ctrl-C ends the display, not the Transaction.

Exit codes: 0 Committed, 2 RolledBack, 3 Failed, 1 nothing was started, 130 interrupted.

Examples:
  kubectl janus apply -f shop/ --wait-for ready
  kubectl janus apply -f shop/ --prune -l app.kubernetes.io/part-of=shop
  helm template shop ./chart | kubectl janus apply -f - --service-account deploy-sa`,
  )
  .action((flags: ApplyFlags) => exitWith(apply(flags)));
