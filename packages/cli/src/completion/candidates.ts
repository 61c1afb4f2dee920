// Lists the words that may complete a command line, with names from the cluster.
import { type Transaction, transactions } from "@janus/api";
import { actionSets, blueprints, profiles } from "@janus/blueprints/authoring";
import { namespaces, serviceAccounts } from "@janus/controller";
import { gitDestinations } from "@janus/git-journal";
import { entriesOfKubeconfig, type KubeObject, listAll, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { openCluster } from "../cluster/cluster.ts";
import { understood } from "../cluster/transactions.ts";
import { fits } from "./fitting.ts";
import type { Typed } from "./typed.ts";

/** The words that may come next. Files: the shell completes them itself. */
export type Candidates = readonly Candidate[] | "files";

export interface Candidate {
  readonly text: string;
  /** A description, or a state; may be empty. */
  readonly what: string;
}

/** Milliseconds: nobody waits longer for a list of names. */
const DEADLINE = 2000;

/** The words with which a gate begins, and conditions of kinds that most have. */
export const GATES: readonly string[] = [
  "ready",
  "condition=Available",
  "condition=Complete",
  "condition=Ready",
  "jsonpath=",
  "cel=",
  "create",
  "delete",
];

/** Formats of `get`, which takes all of kubectl. */
const FORMATS: readonly string[] = ["json", "yaml", "name", "wide", "jsonpath=", "custom-columns=", "go-template="];

const words = (all: readonly string[]): readonly Candidate[] => all.map((text) => ({ text, what: "" }));

/** Flags that say where to look, and as whom. */
const CLUSTER = ["namespace", "context", "cluster", "user", "kubeconfig", "as"] as const;

/** Objects on the cluster that the flags name; none if they cannot be listed, since an error would not be shown here. */
const listed = async ({ flags }: Typed, resource: Resource, metadataOnly: boolean): Promise<readonly KubeObject[]> => {
  const cluster = openCluster(Object.fromEntries(Object.entries(flags).filter(([name]) => isOfCluster(name))));
  const where = resource.namespaced ? { namespace: cluster.namespace } : {};
  const what = metadataOnly ? { metadataOnly } : {};
  const list = await listAll(cluster.api, { resource, ...where, ...what, deadline: DEADLINE });
  await cluster.api.close();
  return E.isRight(list) ? list.right.items : [];
};

const isOfCluster = (name: string): boolean => CLUSTER.some((one) => one === name);

const names = async (typed: Typed, resource: Resource): Promise<readonly Candidate[]> =>
  words((await listed(typed, resource, true)).map(({ metadata: { name = "" } }) => name));

const ofNamespace = async (typed: Typed): Promise<readonly Transaction[]> =>
  (await listed(typed, transactions, false)).flatMap((object) => {
    const read = understood(object);
    return E.isRight(read) ? [read.right.txn] : [];
  });

/** Candidates that the command takes, and that were not named yet. */
const fitting = async (typed: Typed): Promise<readonly Candidate[]> => {
  const { command, args } = typed;
  return (await ofNamespace(typed))
    .filter((txn) => fits(command.name())(txn) && !args.includes(txn.metadata.name))
    .map(({ metadata, spec, status }) => ({
      text: metadata.name,
      what: spec.lifecycle === "Published" ? `${status.phase} ${status.progress ?? ""}`.trim() : spec.lifecycle,
    }));
};

/** The targets of the Transaction that is named before, or of all. */
const targets = async (typed: Typed): Promise<readonly Candidate[]> => {
  const [named] = typed.args;
  const of = (await ofNamespace(typed)).filter(({ metadata }) => named === undefined || metadata.name === named);
  const all = of.flatMap(({ spec }) => spec.changes.map(({ target }) => `${target.kind.toLowerCase()}/${target.name}`));
  return words([...new Set(all)]);
};

const valuesOf = async (typed: Typed, flag: string, choices: readonly string[] | undefined): Promise<Candidates> => {
  const { flags, command } = typed;
  switch (flag) {
    case "filename":
    case "kubeconfig":
      return "files";
    case "namespace":
    case "systemNamespace":
    case "onlyNamespace":
      return names(typed, namespaces);
    case "serviceAccount":
      return names(typed, serviceAccounts);
    case "from":
      return names(typed, actionSets);
    case "profile":
      return names(typed, profiles);
    case "destination":
      return names(typed, gitDestinations);
    case "values":
    case "repo":
      return "files";
    case "context":
    case "cluster":
    case "user":
      return words(entriesOfKubeconfig(process.env, flags["kubeconfig"])[flag]);
    case "waitFor":
      return words(GATES);
    case "output":
      return words(choices ?? (command.name() === "get" ? FORMATS : []));
    default:
      return words(choices ?? []);
  }
};

const flagsOf = ({ command, prefix }: Typed): readonly Candidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({
      text: (prefix === "-" ? undefined : long) ?? short ?? long ?? "",
      what: description,
    }));

const argumentsOf = async (typed: Typed, name: string): Promise<Candidates> => {
  switch (name) {
    case "target":
      return targets(typed);
    case "actionset":
    case "actionsets":
      return names(typed, actionSets);
    case "blueprint":
      return names(typed, blueprints);
    case "files":
    case "file":
    case "path":
      return "files";
    default:
      return [];
  }
};

/** Everything that may come next, whatever its beginning is. */
export const candidatesFor = async (typed: Typed): Promise<Candidates> => {
  const { command, wanted } = typed;
  switch (wanted.type) {
    case "nothing":
      return [];
    case "flag":
      return flagsOf(typed);
    case "command":
      return command.commands.map((one) => ({ text: one.name(), what: one.description() }));
    case "value":
      return valuesOf(typed, wanted.of.attributeName(), wanted.of.argChoices);
    case "argument": {
      const { argChoices } = wanted.of;
      if (argChoices !== undefined) return words(argChoices);
      if (["name", "names"].includes(wanted.of.name())) return fitting(typed);
      return argumentsOf(typed, wanted.of.name());
    }
  }
};
