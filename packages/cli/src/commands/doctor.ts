// The command doctor: checks the installation, the user's permissions and those of a ServiceAccount.
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { impersonation } from "@janus/controller";
import { messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type Cluster, type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { compose, isTransaction } from "../manifests/compose.ts";
import { readManifests } from "../manifests/read-manifests.ts";
import { outputTo, painter } from "../output/style.ts";
import { hanging } from "../output/wrap.ts";
import { planProblems } from "../plan/plan-report.ts";
import { previewInOrder } from "../plan/make-plan.ts";
import type { Finding } from "../story/checkup.ts";
import { checkBlueprints } from "../story/blueprint-installation.ts";
import { checkGitJournal } from "../story/git-journal-installation.ts";
import { checkInstallation, type Installed } from "../story/installation.ts";
import { checkPermissions } from "../story/user-permissions.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface DoctorFlags extends ClusterFlags, Installed {
  readonly filename?: string;
  readonly serviceAccount?: string;
}

const counted = (changes: number): string => (changes === 1 ? "the change" : `all ${changes} changes`);

/** Whether the ServiceAccount may do what a Transaction, or manifests, take. */
const transaction = async (
  cluster: Cluster,
  file: string,
  { serviceAccount }: DoctorFlags,
): Promise<readonly Finding[]> => {
  const sources = await readManifests({ filename: [file] });
  const manifest = compose(sources, cluster.namespace, serviceAccount === undefined ? {} : { serviceAccount });
  const { previewed } = await previewInOrder(cluster, {
    manifest,
    ...(sources.some(isTransaction) ? {} : { sources }),
  });
  const { user } = impersonation(previewed.txn);
  const problems = planProblems(previewed);
  return problems.length === 0
    ? [{ isFine: true, what: `${user} may make and roll back ${counted(previewed.changes.length)} of ${file}` }]
    : problems.map((what) => ({ isFine: false, what, cure: `see kubectl janus plan -f ${file}` }));
};

const doctor = (flags: DoctorFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const output = outputTo(process.stdout);
    const paint = painter(output);
    const reached = await cluster.api.send({ verb: "raw", path: "/version" });
    if (E.isLeft(reached) && reached.left.type === "unanswered") {
      output.write(`${paint("red", "✘")} ${hanging(`no answer: ${messageOf(reached.left)}`, output.width, 2)}\n`);
      output.write(
        `  ${hanging(`→ the kubeconfig names ${cluster.server}: see kubectl config view --minify`, output.width, 4)}\n`,
      );
      return 1;
    }
    const findings = [
      ...(await checkInstallation(cluster, flags)),
      ...(await checkBlueprints(cluster, flags.systemNamespace)),
      ...(await checkGitJournal(cluster, flags.systemNamespace)),
      ...(await checkPermissions(cluster, flags.serviceAccount)),
      ...(flags.filename === undefined ? [] : await transaction(cluster, flags.filename, flags)),
    ];
    for (const { isFine, isUnseen, what, cure } of findings) {
      const mark = isFine ? paint("green", "✔") : isUnseen === true ? paint("yellow", "?") : paint("red", "✘");
      output.write(`${mark} ${hanging(what, output.width, 2)}\n`);
      if (cure !== undefined) output.write(`  ${hanging(`→ ${cure}`, output.width, 4)}\n`);
    }
    return findings.every(({ isFine, isUnseen }) => isFine || isUnseen === true) ? 0 : 1;
  });

export const doctorCommand = command("doctor")
  .option("-f, --filename <path>", "also what a Transaction, or manifests, need")
  .option("--service-account <name>", "ServiceAccount to look at; for -f with manifests, too")
  .option("--system-namespace <name>", "namespace of the controller", SYSTEM_NAMESPACE)
  .option("--deployment <name>", "Deployment of the controller", CONTROLLER_NAME)
  .action((flags: DoctorFlags) => exitWith(doctor(flags)));
