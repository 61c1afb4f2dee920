// Creates a Draft for plan and apply, and shows its render.
import { GROUP } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { awaitRender } from "../cluster/await-render.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { createTransaction } from "../cluster/create-transaction.ts";
import { withoutManagedFields } from "../output/managed-fields.ts";
import { outputTo, painter } from "../output/style.ts";
import { renderExitCode, renderReport } from "../plan/render-report.ts";
import { nameAndNamespace } from "./lifecycle.ts";

/**
 * Creates a Draft, and shows what the controller says that it would do.
 *
 * @param format json, yaml: the Draft as it is stored, with its render; name: its name alone. Default: text.
 * @returns the exit code of `plan`.
 */
export const createDraft = async (
  cluster: Cluster,
  manifest: TransactionManifest,
  format: "json" | "yaml" | "name" | undefined,
): Promise<number> => {
  const { name } = manifest.metadata;
  await createTransaction(cluster, { ...manifest, spec: { ...manifest.spec, lifecycle: "Draft" } });
  const { object, txn, render } = await awaitRender(cluster, name);
  const stored = withoutManagedFields(object);
  const output = outputTo(process.stdout);
  const on = nameAndNamespace(txn);
  if (format === "json") output.write(`${JSON.stringify(stored, undefined, 2)}\n`);
  else if (format === "yaml") output.write(stringify(stored, KUBERNETES_YAML));
  else if (format === "name") output.write(`transaction.${GROUP}/${name}\n`);
  else
    output.write(
      `${renderReport(txn, render, painter(output), output.width)}\n` +
        `It is a Draft: nothing is locked or applied.\n` +
        `To edit it:     kubectl janus edit ${on}\n` +
        `To propose it:  kubectl janus propose ${on}\n`,
    );
  return renderExitCode(render);
};
