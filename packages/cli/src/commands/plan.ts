import { Option } from "commander";
import { stringify } from "yaml";
import { outputTo, painter } from "../output/style.ts";
import { planExitCode, planReport } from "../plan/plan-report.ts";
import { runPreview } from "../plan/run-preview.ts";
import { manifestCommand, type ManifestFlags } from "./flags.ts";
import { composed } from "./manifest-flags.ts";
import { exitWith } from "./exit-with.ts";

interface PlanFlags extends ManifestFlags {
  readonly output?: "yaml" | "json" | "name";
}

const plan = async (flags: PlanFlags): Promise<number> => {
  const { cluster, manifest } = await composed(flags);
  const output = outputTo(process.stdout);
  try {
    if (flags.output !== undefined) {
      const { name } = manifest.metadata;
      const asJson = `${JSON.stringify(manifest, undefined, 2)}\n`;
      const words = { json: asJson, yaml: stringify(manifest), name: `transaction.backup.janus.io/${name}\n` };
      output.write(words[flags.output]);
      return 0;
    }
    const previewed = await runPreview(cluster, manifest, cluster.namespace);
    output.write(planReport(previewed, painter(output), output.width));
    return planExitCode(previewed);
  } finally {
    await cluster.api.close();
  }
};

export const planCommand = manifestCommand("plan")
  .addOption(new Option("-o, --output <format>", "print the Transaction instead").choices(["yaml", "json", "name"]))
  .addHelpText(
    "after",
    `
Manifests become one Transaction: each is applied (created if it does not
exist), in the order of kinds. Everything is tried by server-side dry runs as
the ServiceAccount; nothing is locked or changed.

Exit codes: 0 nothing would change, 1 something would change, 2 it would fail;
3 error.

Examples:
  kubectl janus plan -f shop/
  kubectl kustomize overlays/prod | kubectl janus plan -f -
  helm template shop ./chart | kubectl janus plan -f - -o yaml > release.yaml`,
  )
  // 1 means differences, as of kubectl diff.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 3))
  .action((flags: PlanFlags) => exitWith(plan(flags), 3));
