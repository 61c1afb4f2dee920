import type { TransactionManifest } from "@janus/authoring";
import { transactions } from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import { cannotUse, type Cluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { outputTo, painter } from "../output/style.ts";
import { planExitCode, planReport } from "../plan/plan-report.ts";
import { runPreview } from "../plan/run-preview.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";

export interface RunFlags {
  /** json: one event per line; name: the name alone. Default: text. */
  readonly output?: "json" | "name";
  readonly wait: boolean;
}

const create = async ({ api, namespace }: Cluster, manifest: TransactionManifest): Promise<void> => {
  const { name } = manifest.metadata;
  const answer = await api.send({
    verb: "create",
    resource: transactions,
    namespace,
    body: manifest,
    fieldManager: "kubectl-janus",
  });
  if (E.isRight(answer)) return;
  const { left: error } = answer;
  if (error.type === "refused" && error.reason === "AlreadyExists")
    throw new Failure(
      `Transaction ${namespace}/${name} exists, and its spec cannot be changed: choose another name. ` +
        `To see how it went: kubectl janus explain ${name} -n ${namespace}`,
    );
  const unknown =
    error.type === "unanswered" && error.cause !== "never-sent"
      ? `. It may have been created all the same: kubectl janus get ${name} -n ${namespace}`
      : "";
  throw new Failure(`cannot create Transaction ${namespace}/${name}: ${cannotUse(error)}${unknown}`);
};

/**
 * Previews a Transaction, creates it, and shows it until it has finished.
 *
 * @returns the exit code: 0 Committed, 2 RolledBack, 3 Failed; 1 if the preview says that it would fail: then
 *          nothing was created.
 */
export const runTransaction = async (
  cluster: Cluster,
  manifest: TransactionManifest,
  { output: format, wait }: RunFlags,
): Promise<number> => {
  const { namespace } = cluster;
  const { name } = manifest.metadata;
  const previewed = await runPreview(cluster, manifest, namespace);
  if (planExitCode(previewed) === 2) {
    const errors = outputTo(process.stderr);
    errors.write(planReport(previewed, painter(errors), errors.width));
    return 1;
  }
  await create(cluster, manifest);
  const output = outputTo(process.stdout);
  if (format === "name") output.write(`transaction.backup.janus.io/${name}\n`);
  if (!wait) return 0;
  return exitCodeOf(await showProgress(cluster, name, { output, format, isKnown: true }));
};
