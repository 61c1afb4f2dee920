// The command plan: shows by dry runs what a Transaction would do, without creating it.
import { InvalidArgumentError, Option } from "commander";
import { MAX_CHANGES } from "@janus/api";
import { Failure } from "../failure.ts";
import { exitWith } from "./exit-with.ts";
import { manifestCommand, type ManifestFlags } from "./flags.ts";
import type { FromGitFlags } from "./from-git.ts";
import { onComposed } from "./manifest-flags.ts";
import { type ShownAs, showPlan } from "./show-plan.ts";

type PlanFlags = ManifestFlags & FromGitFlags & ShownAs;

/** Flags that only say something about the way back. */
const OF_GIT = {
  onlyNamespace: "--only-namespace",
  repo: "--repo",
  destination: "--destination",
  max: "--max",
  yes: "--yes",
} as const;

const plan = async (path: string | undefined, flags: PlanFlags): Promise<number> => {
  if (flags.fromGit !== undefined || flags.revert !== undefined) {
    const { planFromGit } = await import("./from-git.ts");
    return planFromGit(path, flags);
  }
  const [idle] = Object.entries(OF_GIT).filter(([name]) => name in flags);
  if (path !== undefined || idle !== undefined)
    throw new Failure(`${path ?? idle?.[1]} goes with --from-git or --revert: manifests are named with -f or -k`);
  return onComposed(flags, (cluster, composed) => showPlan(cluster, composed, flags));
};

const most = (value: string): number => {
  if (!/^[1-9]\d*$/u.test(value) || Number(value) > MAX_CHANGES)
    throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_CHANGES}.`);
  return Number(value);
};

export const planCommand = manifestCommand("plan")
  .argument("[path]", "with --from-git or --revert: a folder or file of the repository")
  .option("--draft", "create the Transaction as a Draft, and show its render")
  .option("--as-draft <name>", "the same, with this name")
  .addOption(new Option("-o, --output <format>", "print the Transaction instead").choices(["yaml", "json", "name"]))
  .option("--from-git <revision>", "go back to what the Git journal had in this commit, under the path")
  .option("--revert <commit>", "take this commit of the Git journal back")
  .option("--only-namespace <name>", "of these files only those of this namespace, and of what is in it")
  .option("--repo <url|dir>", "repository; default: that of --destination, else the clone around here")
  .option("--destination <ns/name>", "GitDestination with the repository, the branch and the folder")
  .addOption(
    new Option("--max <number>", "the most changes in one Transaction: more of them make several").argParser(most),
  )
  .option("-y, --yes", "do not ask if an object was changed after the commit that is reverted")
  .addHelpText(
    "after",
    `
Manifests become one Transaction: each is applied (created if it does not
exist), in the order of kinds. Everything is tried by server-side dry runs as
the ServiceAccount; nothing is locked or changed. With --draft, the controller
tries it: the Draft can be edited, proposed and approved.

With --from-git or --revert, files of the Git journal are compared with the live
objects, and the Transaction has only what differs. What Git has come to have
after the commit, under the path, is deleted; nothing else is touched.

Exit codes: 0 nothing would change, 1 something would change, 2 it would fail,
or a file is not that of an object; 3 error.

Examples:
  kubectl janus plan -f shop/
  kubectl kustomize overlays/prod | kubectl janus plan -f -
  helm template shop ./chart | kubectl janus plan -f - -o yaml > release.yaml
  kubectl janus plan -f shop/ --draft --name shop-v2
  kubectl janus plan --from-git HEAD~3 clusters/prod/apps --as-draft before-noon
  kubectl janus plan --from-git HEAD~3 clusters/prod --only-namespace shop
  kubectl janus plan --revert 1f3a9c2 --as-draft undo-1f3a9c2`,
  )
  // 1 means differences, as of kubectl diff.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 3))
  .action((path: string | undefined, flags: PlanFlags) => exitWith(plan(path, flags), 3));
