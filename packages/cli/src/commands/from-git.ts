// The way back from the Git journal: plans Transactions that go back to a commit, or take one back.
import { FROM_CLUSTER, FROM_GIT, MAX_CHANGES } from "@janus/api";
import { type ChangeManifest, kindOrder, type Manifest, type TransactionManifest } from "@janus/authoring";
import { fromGitAnnotation, type ObjectChange, objectName, statedFields } from "@janus/git-journal/way-back";
import { type Cluster, onCluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { othersOf } from "../git/other-clusters.ts";
import { pathInRepository } from "../git/path-in-repository.ts";
import { type RepositoryFlags, withRepository } from "../git/repository.ts";
import { type Conflict, type FiledChange, type WayBack, wayBackFrom, wayTo } from "../git/way-back.ts";
import { transactionOf } from "../manifests/compose.ts";
import type { Composed } from "../manifests/composed.ts";
import { outputTo, painter } from "../output/style.ts";
import { colouredDiff, objectDiff } from "../plan/object-diff.ts";
import { effectOf } from "../plan/plan-report.ts";
import { runPreview } from "../plan/run-preview.ts";
import { withReplaced } from "../plan/with-replaced.ts";
import { isConfirmed } from "./confirmation.ts";
import { composeFlags, type ManifestFlags } from "./flags.ts";
import { type ShownAs, showPlan } from "./show-plan.ts";

export interface FromGitFlags extends RepositoryFlags {
  readonly fromGit?: string;
  readonly revert?: string;
  readonly onlyNamespace?: string;
  readonly asDraft?: string;
  readonly max?: number;
  readonly yes?: true;
}

type Flags = ManifestFlags & FromGitFlags & ShownAs;

/** Flags about manifests, of which there are none. */
const OF_MANIFESTS: Readonly<Partial<Record<keyof Flags, string>>> = {
  filename: "-f",
  kustomize: "-k",
  recursive: "-R",
  prune: "--prune",
  selector: "-l",
  skipWaitFor: "--skip-wait-for",
};

/** Errors: flags that contradict each other. */
const checked = (flags: Flags): void => {
  const idle = Object.entries(OF_MANIFESTS).flatMap(([name, flag]) => (name in flags ? [flag] : []));
  if (idle.length > 0) throw new Failure(`${idle.join(", ")}: there are no manifests with --from-git or --revert`);
  if (flags.fromGit !== undefined && flags.revert !== undefined)
    throw new Failure("only one of --from-git and --revert can be specified");
};

const short = (commit: string): string => commit.slice(0, 12);

const rank = ({ change }: FiledChange): number => kindOrder(change.target);

const isDeletion = ({ change }: FiledChange): boolean => change.type === "Delete";

/** In the order of their kinds, and deletions last, in the reverse order, as of manifests. */
const ordered = (changes: readonly FiledChange[]): readonly FiledChange[] => [
  ...changes.filter((one) => !isDeletion(one)).toSorted((a, b) => rank(a) - rank(b)),
  ...changes.filter(isDeletion).toSorted((a, b) => rank(b) - rank(a)),
];

const sameTarget = (one: ObjectChange["target"], other: ChangeManifest["target"]): boolean =>
  one.apiVersion === other.apiVersion &&
  one.kind === other.kind &&
  one.namespace === other.namespace &&
  one.name === other.name;

/** Without what the API server would make nothing of, such as a default that has come with a newer version of Kubernetes. */
const withoutIdle = async (cluster: Cluster, manifest: TransactionManifest): Promise<TransactionManifest> => {
  const previewed = await runPreview(cluster, manifest, cluster.namespace).catch(failureOf);
  if (previewed instanceof Failure) return manifest;
  const idle = new Set(previewed.changes.flatMap((change) => (effectOf(change) === "none" ? [change.index] : [])));
  const changes = manifest.spec.changes.filter((_, index) => !idle.has(index));
  return { ...manifest, spec: { ...manifest.spec, changes } };
};

/** A user need not be able to preview what they propose. */
const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error;
  throw error;
};

/** The Draft with these changes; undefined if they would change nothing. */
const composed = async (
  cluster: Cluster,
  changes: readonly FiledChange[],
  flags: Flags,
  annotations: Readonly<Record<string, string>>,
): Promise<Composed | undefined> => {
  const { metadata, spec, ...rest } = transactionOf(
    changes.map(({ change }) => change),
    cluster.namespace,
    composeFlags(flags),
  );
  const manifest = { ...rest, metadata: { ...metadata, annotations }, spec: { ...spec, lifecycle: "Draft" as const } };
  const wholeOf = ({ target }: ChangeManifest): Pick<ChangeManifest, "content"> => {
    const object = changes.find(({ change }) => sameTarget(change.target, target))?.object;
    return object === undefined ? {} : { content: statedFields(object) };
  };
  const trimmed = await withoutIdle(cluster, manifest);
  if (trimmed.spec.changes.length === 0) return undefined;
  return {
    manifest: flags.replace === true ? await withReplaced(cluster, trimmed, wholeOf) : trimmed,
    sources: changes.map(({ path, object }) => ({ where: path, manifest: object as unknown as Manifest })),
  };
};

const conflictDiff = ({ object, resource, wrote, live }: Conflict, commit: string): string =>
  objectDiff(objectName(object), wrote, live, resource)
    .replace("--- live ", `--- as ${short(commit)} wrote it, `)
    .replace("+++ after ", "+++ live ");

/** Shows which objects are not as the commit has made them, and asks. Errors: if nobody can be asked; if the answer is no. */
const confirmed = async ({ conflicts, commit }: WayBack, flags: Flags): Promise<void> => {
  if (conflicts.length === 0) return;
  const errors = outputTo(process.stderr);
  const names = conflicts.map(({ object }) => objectName(object)).join(", ");
  errors.write(`Changed after ${short(commit)}, which would be lost: ${names}\n`);
  for (const conflict of conflicts) errors.write(`${colouredDiff(conflictDiff(conflict, commit), painter(errors))}\n`);
  if (flags.draft !== true || flags.yes === true) return;
  const nothing = "no Draft was created";
  if (!process.stdin.isTTY)
    throw new Failure(
      `${nothing}: objects were changed after the commit, and the standard input is not a terminal. To go back to their state before the commit all the same, add --yes`,
    );
  if (!(await isConfirmed("Go back to their state before the commit all the same? [y/N] ", nothing)))
    throw new Failure(nothing);
};

/** Names what is not done, on the standard error. */
const nameRest = ({ skipped, left, wrong }: WayBack): void => {
  const { write } = outputTo(process.stderr);
  for (const { path, why } of skipped) write(`Skipped: ${path}: ${why}.\n`);
  for (const what of left) write(`Left as it is: ${what}.\n`);
  // A file may be wrong both in the commit and before it.
  for (const line of new Set(wrong.map(({ path, why }) => `Cannot be used: ${path}: ${why}.\n`))) write(line);
};

const inParts = <A>(all: readonly A[], most: number): readonly (readonly A[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));

/** Warns where the files are those of another cluster: it may be restored here, or the folder be the wrong one. @returns its uid */
const warnOfOthers = async (cluster: Cluster, { owners }: WayBack): Promise<readonly string[]> => {
  const { warnings, uids } = await othersOf(cluster, owners);
  for (const warning of warnings) outputTo(process.stderr).write(`Warning: ${warning}.\n`);
  return uids;
};

/** Plans these changes, in several Transactions if need be. @returns the exit code of `plan`; undefined if they would change nothing. */
const planParts = async (
  cluster: Cluster,
  { commit, changes }: WayBack,
  flags: Flags,
  others: readonly string[],
): Promise<number | undefined> => {
  const { name, max = MAX_CHANGES, output, revert } = flags;
  const parts = inParts(ordered(changes), max);
  const annotations = {
    [FROM_GIT]: fromGitAnnotation({ commit, reverts: revert !== undefined }),
    ...(others.length === 0 ? {} : { [FROM_CLUSTER]: others.join(",") }),
  };
  const codes: number[] = [];
  for (const [at, part] of parts.entries()) {
    const own = parts.length === 1 || name === undefined ? flags : { ...flags, name: `${name}-${at + 1}` };
    const one = await composed(cluster, part, own, annotations);
    if (one === undefined) continue;
    if (output === "yaml" && codes.length > 0) process.stdout.write("---\n");
    codes.push(await showPlan(cluster, one, own));
  }
  return codes.length === 0 ? undefined : Math.max(...codes);
};

const wayBack = (cluster: Cluster, path: string | undefined, flags: Flags): Promise<WayBack> =>
  withRepository(cluster, flags, (repository, destination) => {
    const { fromGit = "", revert, onlyNamespace: namespace } = flags;
    if (path === undefined && destination === undefined && revert === undefined)
      throw new Failure("name a folder or file of the repository after --from-git REVISION; . is all of it");
    const there = pathInRepository(path, repository.folder, destination);
    const scope = { path: there, ...(namespace === undefined ? {} : { namespace }) };
    return revert === undefined
      ? wayTo(cluster, repository, { name: fromGit, scope })
      : wayBackFrom(cluster, repository, { name: revert, scope });
  });

/** Plans what `--from-git` or `--revert` asks for. @returns the exit code of `plan`. */
export const planFromGit = (path: string | undefined, given: Flags): Promise<number> => {
  checked(given);
  const { asDraft, ...rest } = given;
  const flags: Flags = asDraft === undefined ? rest : { ...rest, draft: true, name: asDraft };
  return onCluster(flags, async (cluster) => {
    const back = await wayBack(cluster, path, flags);
    const { commit, changes, wrong, left } = back;
    const { write } = outputTo(process.stderr);
    nameRest(back);
    if (wrong.length > 0) {
      write("Nothing was planned: name a folder or file without them, or mend them and name the commit that does.\n");
      return 2;
    }
    if (flags.max === undefined && changes.length > MAX_CHANGES)
      throw new Failure(
        `${changes.length} changes, but a Transaction has at most ${MAX_CHANGES}: name a smaller folder, or add --max ${MAX_CHANGES} to make several, each of which is executed by itself`,
      );
    const others = await warnOfOthers(cluster, back);
    await confirmed(back, flags);
    const code = await planParts(cluster, back, flags, others);
    if (code !== undefined) return code;
    const state = `${flags.revert === undefined ? "in" : "before"} ${short(commit)}`;
    write(
      left.length === 0
        ? `All is as it was ${state}: there is nothing to change.\n`
        : "There is nothing else to change.\n",
    );
    return left.length === 0 ? 0 : 1;
  });
};
