// The command plan: shows by dry runs what a Transaction would do, without creating it.
import { GROUP } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import { Option } from "commander";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { outputTo, painter } from "../output/style.ts";
import { planExitCode, planReport } from "../plan/plan-report.ts";
import { inOrder, makePlan } from "../plan/make-plan.ts";
import type { Previewed } from "../plan/run-preview.ts";
import { createDraft } from "./draft.ts";
import { manifestCommand, type ManifestFlags } from "./flags.ts";
import { onComposed } from "./manifest-flags.ts";
import { exitWith } from "./exit-with.ts";

interface PlanFlags extends ManifestFlags {
  readonly output?: "yaml" | "json" | "name";
  readonly draft?: true;
}

/** The Transaction itself, for files and other programs. */
const printed = (manifest: TransactionManifest, format: NonNullable<PlanFlags["output"]>): string => {
  switch (format) {
    case "json":
      return `${JSON.stringify(manifest, undefined, 2)}\n`;
    case "yaml":
      return stringify(manifest, KUBERNETES_YAML);
    case "name":
      return `transaction.${GROUP}/${manifest.metadata.name}\n`;
  }
};

const plan = async (flags: PlanFlags): Promise<number> =>
  onComposed(flags, async (cluster, composed) => {
    const output = outputTo(process.stdout);
    const show = (previewed: Previewed): number => {
      output.write(planReport(previewed, painter(output), output.width));
      return planExitCode(previewed);
    };
    if (flags.draft === true) {
      const { manifest, previewed } = await inOrder(cluster, composed);
      return previewed?.advice === undefined ? createDraft(cluster, manifest, flags.output) : show(previewed);
    }
    if (flags.output !== undefined) {
      output.write(printed((await inOrder(cluster, composed)).manifest, flags.output));
      return 0;
    }
    return show((await makePlan(cluster, composed)).previewed);
  });

export const planCommand = manifestCommand("plan")
  .option("--draft", "create the Transaction as a Draft, and show its render")
  .addOption(new Option("-o, --output <format>", "print the Transaction instead").choices(["yaml", "json", "name"]))
  .addHelpText(
    "after",
    `
Manifests become one Transaction: each is applied (created if it does not
exist), in the order of kinds. Everything is tried by server-side dry runs as
the ServiceAccount; nothing is locked or changed. With --draft, the controller
tries it: the Draft can be edited, proposed and approved.

Exit codes: 0 nothing would change, 1 something would change, 2 it would fail;
3 error.

Examples:
  kubectl janus plan -f shop/
  kubectl kustomize overlays/prod | kubectl janus plan -f -
  helm template shop ./chart | kubectl janus plan -f - -o yaml > release.yaml
  kubectl janus plan -f shop/ --draft --name shop-v2`,
  )
  // 1 means differences, as of kubectl diff.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 3))
  .action((flags: PlanFlags) => exitWith(plan(flags), 3));
