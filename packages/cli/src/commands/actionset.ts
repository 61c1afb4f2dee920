// The command actionset: lists ActionSets, watches, explains and stops them.
import { ACTION_SET_UID, abandoned, actionSets, cannotAbandon, GROUP, VERSION } from "@janus/blueprints/authoring";
import { pods } from "@janus/types";
import { Command } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { actionSetIn, readActionSet } from "../cluster/action-sets.ts";
import { type Cluster, type ClusterFlags, onCluster, sent } from "../cluster/cluster.ts";
import { follow } from "../cluster/follow.ts";
import { kubectl } from "../cluster/kubectl.ts";
import { Failure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { outputTo, painter } from "../output/style.ts";
import { hanging } from "../output/wrap.ts";
import { outputLines } from "../progress/action-set-text.ts";
import { showActionSet } from "../progress/show-action-set.ts";
import { actionSetStory } from "../story/action-set-story.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface GetFlags extends ClusterFlags {
  readonly output?: string;
  readonly allNamespaces?: true;
  readonly selector?: string;
}

const get = async (names: readonly string[], { output, allNamespaces, selector, ...flags }: GetFlags) =>
  kubectl(
    [
      "get",
      `${actionSets.plural}.${GROUP}`,
      ...names,
      ...(output === undefined ? [] : ["-o", output]),
      ...(allNamespaces === undefined ? [] : ["-A"]),
      ...(selector === undefined ? [] : ["-l", selector]),
    ],
    flags,
  );

type Work<Flags = ClusterFlags> = (cluster: Cluster, name: string, flags: Flags) => Promise<number>;

const watch: Work = (cluster, name) => showActionSet(cluster, name, outputTo(process.stdout));

const explain: Work = async (cluster, name) => {
  const output = outputTo(process.stdout);
  const paint = painter(output);
  const { what, why, next } = actionSetStory(printable(await readActionSet(cluster, name)));
  output.write(`${paint("bold", hanging(what, output.width, 0))}\n`);
  if (why !== undefined) output.write(`${paint("dim", "Why:")}   ${hanging(why, output.width, 7)}\n`);
  output.write(`${paint("dim", "Next:")}  ${next}\n`);
  return 0;
};

interface LogsFlags extends ClusterFlags {
  readonly follow?: true;
}

/** The namespaces in which Pods of its phases may be: its own, and those of its objects. */
const namespacesOf = ({ metadata, spec }: Awaited<ReturnType<typeof readActionSet>>): readonly string[] => [
  ...new Set([metadata.namespace, ...(spec?.actions ?? []).flatMap(({ object }) => object?.namespace || [])]),
];

/** Of Pods that there are; a Pod is deleted once its result is recorded: then what was recorded. */
const logs: Work<LogsFlags> = async (cluster, name, flags) => {
  const { api } = cluster;
  const actionSet = await readActionSet(cluster, name);
  const selector = `${ACTION_SET_UID}=${actionSet.metadata.uid}`;
  const found: string[] = [];
  for (const namespace of namespacesOf(actionSet)) {
    const list = { verb: "list", resource: pods, namespace, labelSelector: selector } as const;
    const { items } = (await sent(api, list, `cannot list the Pods in ${namespace}`)) as { readonly items?: unknown };
    if (Array.isArray(items) && items.length > 0) found.push(namespace);
  }
  const options = ["--all-containers", "--prefix", "--tail=-1", "--max-log-requests=50"];
  const follows = flags.follow === true ? ["--follow"] : [];
  const { follow: _, ...rest } = flags;
  if (found.length > 0)
    return Math.max(
      ...found.map((namespace) => kubectl(["logs", "-l", selector, ...options, ...follows], { ...rest, namespace })),
    );
  const output = outputTo(process.stdout);
  process.stderr.write("No Pod of it is left; what its phases have recorded:\n");
  for (const line of outputLines(printable(actionSet))) output.write(`${line}\n`);
  const { message } = actionSet.status?.error ?? {};
  if (message !== undefined) output.write(`${printable(message)}\n`);
  return 0;
};

const abandon: Work = async (cluster, name) => {
  const actionSet = await readActionSet(cluster, name);
  const { namespace } = cluster;
  const shown = `ActionSet ${namespace}/${name}`;
  const refused = cannotAbandon(actionSet);
  if (refused !== undefined) throw new Failure(`${shown} cannot be abandoned: ${refused}`);
  const body = abandoned(actionSet);
  const served = await cluster.discovery.resource(`${GROUP}/${VERSION}`, actionSets.kind);
  const isApart = E.isRight(served) && served.right.statusSubresource;
  await sent(
    cluster.api,
    {
      verb: "mergePatch",
      resource: actionSets,
      namespace,
      name,
      body,
      fieldManager: "kubectl-janus",
      ...(isApart ? { subresource: "status" } : {}),
    },
    `cannot abandon ${shown}`,
  );
  process.stdout.write(`${shown} is failed now; look at what its phases have left behind\n`);
  return 0;
};

interface DeleteFlags extends ClusterFlags {
  readonly wait: boolean;
}

const remove: Work<DeleteFlags> = async (cluster, name, { wait }) => {
  const { api, namespace } = cluster;
  const { metadata } = await readActionSet(cluster, name);
  const { uid } = metadata;
  const shown = `ActionSet ${namespace}/${name}`;
  await sent(
    api,
    { verb: "delete", resource: actionSets, namespace, name, preconditions: { uid } },
    `cannot delete ${shown}`,
  );
  if (!wait) return 0;
  const stop = new AbortController();
  for await (const object of follow(cluster, name, { signal: stop.signal, resource: actionSets }))
    if (object === undefined || actionSetIn(object).metadata.uid !== uid) stop.abort();
  process.stdout.write(`${shown} is deleted\n`);
  return 0;
};

const subcommand = <Flags extends ClusterFlags>(name: string, summary: string, work: Work<Flags>): Command =>
  command(name)
    .description(summary)
    .argument("<actionset>", "name of the ActionSet")
    .action((actionSet: string, flags: Flags) =>
      exitWith(onCluster(flags, (cluster) => work(cluster, actionSet, flags))),
    );

export const actionSetCommand = new Command("actionset")
  .helpCommand(false)
  .addCommand(
    command("get")
      .description("list ActionSets, as kubectl get does")
      .argument("[actionsets...]", "names; default: all")
      .option("-o, --output <format>", "any of kubectl")
      .option("-A, --all-namespaces", "of all namespaces")
      .option("-l, --selector <labels>", "label selector")
      .action((names: readonly string[], flags: GetFlags) => exitWith(get(names, flags))),
  )
  .addCommand(
    subcommand("watch", "show each phase that begins or ends, until it has ended", watch).addHelpText(
      "after",
      "\nExit codes: 0 complete, 3 failed, 5 it was deleted meanwhile, 1 error.",
    ),
  )
  .addCommand(
    subcommand("logs", "the logs of its Pods, or what they have recorded if none is left", logs).option(
      "-f, --follow",
      "until these Pods have ended",
    ),
  )
  .addCommand(subcommand("explain", "what it does, why, and what to do next", explain))
  .addCommand(subcommand("abandon", "end one that was running under another controller: it is failed then", abandon))
  .addCommand(
    subcommand("delete", "stop it: a running Pod is deleted, the deferPhases run, then it is gone", remove).option(
      "--no-wait",
      "do not wait until it is gone",
    ),
  );
