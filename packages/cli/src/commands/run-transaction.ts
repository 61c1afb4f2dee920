// Previews a Transaction, creates it, and shows its progress until it has finished.
import { GROUP } from "@janus/api";
import type { Cluster } from "../cluster/cluster.ts";
import { createTransaction } from "../cluster/create-transaction.ts";
import { Failure } from "../failure.ts";
import type { Composed } from "../manifests/composed.ts";
import { outputTo, painter } from "../output/style.ts";
import { planProblems, planReport } from "../plan/plan-report.ts";
import { makePlan } from "../plan/make-plan.ts";
import { interruptible } from "../progress/interruptible.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";

export interface RunFlags {
  /** json: one event per line; name: the name alone. Default: text. */
  readonly output?: "json" | "name";
  readonly wait: boolean;
}

/**
 * Previews a Transaction, creates it, and shows it until it has finished.
 *
 * @returns the exit code: 0 Committed, 2 RolledBack, 3 Failed; 1 if the preview says that it would fail: then
 *          nothing was created.
 */
export const runTransaction = async (
  cluster: Cluster,
  composed: Composed,
  { output: format, wait }: RunFlags,
): Promise<number> => {
  const { namespace } = cluster;
  const { name } = composed.manifest.metadata;
  const { lifecycle = "Published" } = composed.manifest.spec;
  if (lifecycle !== "Published")
    throw new Failure(
      `Transaction ${namespace}/${name} cannot be executed yet: its spec.lifecycle is ${lifecycle}. ` +
        "To create it as a Draft: kubectl janus plan --draft",
    );
  const { manifest, previewed, refusals } = await makePlan(cluster, composed);
  const problems = planProblems(previewed);
  if (problems.length > 0 && problems.length === refusals.length) throw new Failure(refusals.join("\n"));
  if (problems.length > 0) {
    const errors = outputTo(process.stderr);
    errors.write(planReport(previewed, painter(errors), errors.width));
    return 1;
  }
  const creating = createTransaction(cluster, manifest);
  const uid = await interruptible(
    creating,
    `Transaction ${namespace}/${name} may have been created: kubectl janus get ${name} -n ${namespace}`,
  );
  const output = outputTo(process.stdout);
  if (format === "name") output.write(`transaction.${GROUP}/${name}\n`);
  const toWatch = wait ? "" : `: kubectl janus watch ${name} -n ${namespace}`;
  // A terminal that shows progress shows the name above it.
  if (format === undefined && !(wait && output.isTerminal))
    output.write(`Transaction ${namespace}/${name} is created${toWatch}\n`);
  if (!wait) return 0;
  const code = exitCodeOf(await showProgress(cluster, name, { output, format, uid }));
  if (code !== 0 && format === undefined)
    process.stderr.write(`To find out why: kubectl janus explain ${name} -n ${namespace}\n`);
  return code;
};
