// Writes the messages of commits.
import type { CommittedFile, PlannedCommit } from "./batch.ts";
import { oneLine } from "./commit-author.ts";
import { type BaseFolder, isWithin, relativeTo, ROOT } from "./path.ts";
import type { JournaledTransaction } from "./transactions.ts";

/** The installation that commits. */
export interface Installation {
  readonly clusterUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly instance: string;
}

export interface CommitContext {
  /** The folders of all destinations of the branch. */
  readonly folders: readonly BaseFolder[];
  readonly installation: Installation;
  /** The Transaction that the commit is of. */
  readonly transaction?: JournaledTransaction;
  /** Whether not all of its changes could be seen. */
  readonly isIncomplete?: boolean;
  /** The users whose changes, too many to be told apart, are in a commit of the bot. */
  readonly others?: ReadonlySet<string>;
}

/** The most files that are listed. */
const MOST = 50;

type Trailer = readonly [name: string, value: string | undefined];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const VERBS = { CREATE: "Create", UPDATE: "Update", DELETE: "Delete" } as const;

const verbOf = (files: readonly CommittedFile[]): string => {
  const [first, ...others] = new Set(files.map(({ operation }) => operation));
  return first === undefined || others.length > 0 ? "Update" : VERBS[first];
};

/** Names the objects of these files by their paths within the folders of destinations: one may be in several. */
const objectsOf = (files: readonly CommittedFile[], folders: readonly BaseFolder[]): readonly string[] => {
  const longestFirst = folders.toSorted((a, b) => b.length - a.length);
  const folderOf = (path: string): BaseFolder => longestFirst.find((folder) => isWithin(folder, path)) ?? ROOT;
  return [...new Set(files.map(({ path }) => relativeTo(folderOf(path), path).replace(/\.yaml$/u, "")))];
};

const subjectOf = ({ by, files }: PlannedCommit, { folders, transaction }: CommitContext): string => {
  const objects = objectsOf(files, folders);
  if (transaction !== undefined) {
    const { namespace, name, phase } = transaction;
    return `Transaction ${namespace}/${name}: ${phase}, ${counted(objects.length, "change")}`;
  }
  const author = by.type === "user" ? ` by user/${oneLine(by.name)}` : "";
  const [operation, ...others] = new Set(files.map((file) => file.operation));
  return operation === undefined || others.length > 0 || objects.length > 1
    ? `${verbOf(files)} ${counted(objects.length, "object")}${author}`
    : `[${operation}] ${objects.join("")}${author}`;
};

const bodyOf = ({ files }: PlannedCommit): string => {
  const listed = files.slice(0, MOST).map(({ operation, path }) => `${operation} ${path}`);
  return [...listed, ...(files.length > MOST ? [`… and ${files.length - MOST} more`] : [])].join("\n");
};

const ofTransaction = (
  { namespace, name, uid, phase, users, fromGit }: JournaledTransaction,
  isIncomplete: boolean | undefined,
): readonly Trailer[] => [
  ["Transaction", `${namespace}/${name}`],
  ["Transaction-UID", uid],
  ["Transaction-Phase", phase],
  ["Transaction-Incomplete", isIncomplete === true ? "true" : undefined],
  ["Requested-by", users.requestedBy],
  ["Approved-by", users.approvedBy],
  ["Last-edited-by", users.lastEditedBy],
  ["Rollback-requested-by", users.rollbackRequestedBy],
  [fromGit?.reverts === true ? "Reverts" : "From-git", fromGit?.commit],
];

const trailersOf = ({ by }: PlannedCommit, context: CommitContext): readonly Trailer[] => {
  const { installation, transaction, isIncomplete, others = new Set<string>() } = context;
  const users = by.type === "user" ? [by.name] : by.type === "unknown" ? [...others].toSorted() : [];
  return [
    ...users.map((user): Trailer => ["Changed-by", user]),
    ...(transaction === undefined ? [] : ofTransaction(transaction, isIncomplete)),
    ["X-ConfigButler-ClusterUID", installation.clusterUid],
    ["X-ConfigButler-ControllerNS", installation.namespace],
    ["X-ConfigButler-ControllerName", installation.name],
    ["X-ConfigButler-InstanceID", installation.instance],
  ];
};

/**
 * Writes the message of a commit: what was changed, by whom, and trailers that programs read.
 *
 * Guarantees: no name of a user can add a line to it.
 */
export const commitMessage = (commit: PlannedCommit, context: CommitContext): string => {
  const trailers = trailersOf(commit, context).flatMap(([name, value]) =>
    value === undefined || oneLine(value) === "" ? [] : [`${name}: ${oneLine(value)}`],
  );
  return `${[subjectOf(commit, context), bodyOf(commit), trailers.join("\n")].join("\n\n")}\n`;
};
