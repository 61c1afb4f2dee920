// Finds the changes that bring the cluster to a commit, or take a commit back, and what of it is not done.
import {
  changeTo,
  conflicting,
  type FilesOfCommit,
  type Goal,
  goalsOf,
  goalsOfRevert,
  isConflict,
  type ObjectChange,
  type ObjectId,
  objectName,
  type Owner,
  ownersOf,
  type Tree,
  type Unused,
} from "@janus/git-journal/way-back";
import type { KubeObject, Resource } from "@janus/kube";
import { inLanes } from "@janus/runtime/parts";
import { messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as O from "fp-ts/lib/Option.js";
import { type Cluster, found } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { commitOf, objectsIn, parentOf, type Scope, tipOf, treeBelow } from "./committed-files.ts";
import { answered, type Repository } from "./repository.ts";

/** A change, and the file for which it is. */
export interface FiledChange {
  readonly path: string;
  readonly change: ObjectChange;
  /** The whole object; of a Delete the one that is there. */
  readonly object: KubeObject;
}

/** An object that somebody has changed since the commit. */
export interface Conflict {
  readonly object: KubeObject;
  readonly resource: Pick<Resource, "statusSubresource">;
  readonly wrote: KubeObject | undefined;
  readonly live: KubeObject | undefined;
}

/** The way to a state that Git has. */
export interface WayBack {
  readonly commit: ObjectId;
  readonly changes: readonly FiledChange[];
  readonly conflicts: readonly Conflict[];
  /** Objects that are left as they are, each with its reason. */
  readonly left: readonly string[];
  readonly wrong: readonly Unused[];
  readonly skipped: readonly Unused[];
  /** The folders of all files that it is about, each with whose mirror it is. */
  readonly owners: ReadonlyMap<string, Owner>;
}

/** Objects that are read at a time. */
const LANES = 16;

interface Live {
  readonly object: KubeObject | undefined;
  /** Undefined: no such kind is served, so that there is no such object. */
  readonly resource: Resource | undefined;
}

const readLive = async (cluster: Cluster, { apiVersion, kind, metadata }: KubeObject): Promise<Live> => {
  const served = await cluster.discovery.resource(apiVersion, kind);
  if (E.isLeft(served)) {
    if (served.left.type === "unknown") return { object: undefined, resource: undefined };
    throw new Failure(`cannot find out where ${apiVersion} ${kind} is served: ${messageOf(served.left)}`);
  }
  const resource = served.right;
  const { name = "", namespace = cluster.namespace } = metadata;
  const place = { resource, name, ...(resource.namespaced ? { namespace } : {}) };
  const what = `cannot read ${objectName({ apiVersion, kind, metadata })}`;
  return { resource, object: await found(cluster.api, { verb: "get", ...place }, what) };
};

const allLive = async (cluster: Cluster, goals: readonly Goal[]): Promise<ReadonlyMap<Goal, Live>> => {
  const all = new Map<Goal, Live>();
  await inLanes(goals.values(), LANES, async (goal) => {
    all.set(goal, await readLive(cluster, goal.object));
    return true;
  });
  return all;
};

type Judged = Pick<WayBack, "changes" | "left">;

const judged = (goals: readonly Goal[], live: ReadonlyMap<Goal, Live>): Judged => {
  const changes: FiledChange[] = [];
  const left: string[] = [];
  for (const goal of goals) {
    const object = live.get(goal)?.object;
    const change = changeTo({ wanted: goal.wanted, live: object });
    if (E.isLeft(change)) left.push(change.left);
    else if (O.isSome(change.right))
      changes.push({ path: goal.path, change: change.right.value, object: goal.wanted ?? goal.object });
  }
  return { changes, left };
};

/** A commit as the user names it, and which of its files are meant. */
interface Named {
  readonly name: string;
  readonly scope: Scope;
}

const nothingThere = ({ path, namespace }: Scope, name: string, repository: Repository): Failure => {
  const whose = namespace === undefined ? "" : `of namespace ${namespace} `;
  const where = path === "" ? "" : `under ${path} `;
  return new Failure(`there is no file of an object ${whose}${where}at ${name} in ${repository.name}`);
};

/** By the markers of these commits: the last one that has them counts. */
const ownersAt = async (
  repository: Repository,
  commits: readonly ObjectId[],
  goals: readonly Goal[],
): Promise<WayBack["owners"]> => {
  const paths = goals.map(({ path }) => path).filter((path) => !/\p{Cc}/u.test(path));
  const owners = new Map<string, Owner>();
  for (const commit of commits)
    for (const [folder, owner] of answered(repository, await ownersOf(repository.git, commit, paths)))
      owners.set(folder, owner);
  return owners;
};

const isEmpty = ({ objects, wrong }: FilesOfCommit): boolean => objects.size + wrong.length === 0;

/**
 * The way to a commit: what is meant becomes as it was there. What of it Git has come to have since is deleted.
 *
 * Errors: if neither the commit nor the newest one has a file of an object there.
 */
export const wayTo = async (cluster: Cluster, repository: Repository, { name, scope }: Named): Promise<WayBack> => {
  const commit = await commitOf(repository, name);
  const tree = await treeBelow(repository, commit, scope);
  const at = await objectsIn(repository, tree);
  const newest = await tipOf(repository);
  const newer = [...(await treeBelow(repository, newest, scope))].filter(([file]) => !tree.has(file));
  const tip = await objectsIn(repository, newer);
  if (isEmpty(at) && isEmpty(tip)) throw nothingThere(scope, name, repository);
  const goals = goalsOf(at, tip);
  const { wrong, skipped } = at;
  const owners = await ownersAt(repository, [newest, commit], goals);
  return { commit, conflicts: [], wrong, skipped, owners, ...judged(goals, await allLive(cluster, goals)) };
};

const NO_TREE: Tree = new Map();

/** The entries that another tree does not have in the same way. */
const changed = (tree: Tree, other: Tree): Tree =>
  new Map([...tree].filter(([path, { id, kind }]) => other.get(path)?.id !== id || other.get(path)?.kind !== kind));

/**
 * The way back from a commit: exactly its files, to what they were before it.
 *
 * Errors: of a merge; if it has changed no file of an object there.
 */
export const wayBackFrom = async (
  cluster: Cluster,
  repository: Repository,
  { name, scope }: Named,
): Promise<WayBack> => {
  const commit = await commitOf(repository, name);
  const parent = await parentOf(repository, commit);
  const after = await treeBelow(repository, commit, scope);
  const before = parent === undefined ? NO_TREE : await treeBelow(repository, parent, scope);
  const wrote = await objectsIn(repository, changed(after, before));
  const former = await objectsIn(repository, changed(before, after));
  if (isEmpty(wrote) && isEmpty(former)) throw nothingThere(scope, `the changes of ${name}`, repository);
  const goals = goalsOfRevert(wrote, former);
  const all = await allLive(cluster, goals);
  const conflicts = goals.flatMap((goal): readonly Conflict[] => {
    const { object, resource } = all.get(goal) ?? { object: undefined, resource: undefined };
    if (resource === undefined || !isConflict(goal, object)) return [];
    const [wrote, live] = conflicting(goal, object);
    return [{ object: goal.object, resource, wrote, live }];
  });
  const named = new Set([...goals, ...former.skipped].map(({ path }) => path));
  const skipped = [...former.skipped, ...wrote.skipped.filter(({ path }) => !named.has(path))];
  const owners = await ownersAt(repository, [commit], goals);
  return { commit, conflicts, wrong: [...wrote.wrong, ...former.wrong], skipped, owners, ...judged(goals, all) };
};
