// Shows a composed Transaction for plan: as a preview, as a Draft, or for other programs.
import { GROUP } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import { stringify } from "yaml";
import type { Cluster } from "../cluster/cluster.ts";
import type { Composed } from "../manifests/composed.ts";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { outputTo, painter } from "../output/style.ts";
import { inOrder, makePlan } from "../plan/make-plan.ts";
import { planExitCode, planReport } from "../plan/plan-report.ts";
import type { Previewed } from "../plan/run-preview.ts";
import { createDraft } from "./draft.ts";

export interface ShownAs {
  readonly output?: "yaml" | "json" | "name";
  readonly draft?: true;
}

/** The Transaction itself, for files and other programs. */
const printed = (manifest: TransactionManifest, format: NonNullable<ShownAs["output"]>): string => {
  switch (format) {
    case "json":
      return `${JSON.stringify(manifest, undefined, 2)}\n`;
    case "yaml":
      return stringify(manifest, KUBERNETES_YAML);
    case "name":
      return `transaction.${GROUP}/${manifest.metadata.name}\n`;
  }
};

/** @returns the exit code of `plan`. */
export const showPlan = async (
  cluster: Cluster,
  composed: Composed,
  { draft, output: format }: ShownAs,
): Promise<number> => {
  const output = outputTo(process.stdout);
  const show = (previewed: Previewed): number => {
    output.write(planReport(previewed, painter(output), output.width));
    return planExitCode(previewed);
  };
  if (draft === true) {
    const { manifest, previewed } = await inOrder(cluster, composed);
    return previewed?.advice === undefined ? createDraft(cluster, manifest, format) : show(previewed);
  }
  if (format !== undefined) {
    output.write(printed((await inOrder(cluster, composed)).manifest, format));
    return 0;
  }
  return show((await makePlan(cluster, composed)).previewed);
};
