// The command run: runs an action of a Blueprint, in a new ActionSet.
import { randomBytes } from "node:crypto";
import {
  actionsFrom,
  actionSets,
  type ActionSpec,
  type Given,
  GROUP,
  namedServiceAccount,
  type ObjectReference,
  objectNamed,
  SERVICE_ACCOUNT,
  VERSION,
} from "@janus/blueprints/authoring";
import { InvalidArgumentError, Option } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { cannotUseActionSets, readActionSet } from "../cluster/action-sets.ts";
import { type Cluster, type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { namedKind } from "../cluster/named-object.ts";
import { Failure } from "../failure.ts";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { outputTo } from "../output/style.ts";
import { showActionSet } from "../progress/show-action-set.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface RunFlags extends ClusterFlags {
  readonly object: readonly string[];
  readonly from?: string;
  readonly profile?: string;
  readonly option?: Readonly<Record<string, string>>;
  readonly secret?: Readonly<Record<string, string>>;
  readonly configMap?: Readonly<Record<string, string>>;
  readonly label?: Readonly<Record<string, string>>;
  readonly podLabel?: Readonly<Record<string, string>>;
  readonly podAnnotation?: Readonly<Record<string, string>>;
  readonly serviceAccount?: string;
  readonly name?: string;
  readonly wait?: true;
  readonly dryRun?: true;
  readonly output?: "yaml" | "json" | "name";
}

const pair = (value: string, former: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be NAME=VALUE.");
  return { ...former, [value.slice(0, at)]: value.slice(at + 1) };
};

const each = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];

/** `name`, or `namespace/name`. */
const reference = (text: string, own: string): ObjectReference => {
  const [first = "", second] = text.split("/");
  return second === undefined ? { name: first, namespace: own } : { name: second, namespace: first };
};

const references = (all: Readonly<Record<string, string>> | undefined, own: string) =>
  all && Object.fromEntries(Object.entries(all).map(([name, text]) => [name, reference(text, own)]));

const objectOf = async (cluster: Cluster, text: string): Promise<ObjectReference> => {
  const parts = text.split("/");
  const [kind = "", second = "", third] = parts;
  const [namespace, name] = third === undefined ? [cluster.namespace, second] : [second, third];
  if (kind === "" || name === "" || parts.length > 3)
    throw new Failure(`--object ${text}: name an object like deployment/web or deployment/shop/web`);
  const known = objectNamed(kind, namespace, name);
  if (known !== undefined) return known;
  const resource = await namedKind(cluster, kind);
  if (resource === undefined)
    throw new Failure(`the API server serves no kind ${kind}. To list them: kubectl api-resources`);
  const { group, version: apiVersion, plural } = resource;
  return { apiVersion, group, resource: plural, name, ...(resource.namespaced ? { namespace } : {}) };
};

const givenBy = (flags: RunFlags, own: string): Given => {
  const { profile, option: options, podLabel: podLabels, podAnnotation: podAnnotations } = flags;
  const [secrets, configMaps] = [references(flags.secret, own), references(flags.configMap, own)];
  return {
    ...(profile === undefined ? {} : { profile: reference(profile, own) }),
    ...(options === undefined ? {} : { options }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(configMaps === undefined ? {} : { configMaps }),
    ...(podLabels === undefined ? {} : { podLabels }),
    ...(podAnnotations === undefined ? {} : { podAnnotations }),
  };
};

/** The most characters of a name. */
const LONGEST = 253;

const nameFor = (action: string, { from, name }: RunFlags): string =>
  name ??
  `${[action.toLowerCase(), from ?? []]
    .flat()
    .join("-")
    .slice(0, LONGEST - 6)}-${randomBytes(3).toString("hex").slice(0, 5)}`;

/** The service account also as a label: where the definition is Kanister's own, it prunes the field. */
const manifestOf = (
  name: string,
  namespace: string,
  actions: readonly ActionSpec[],
  serviceAccount: string | undefined,
  label: Readonly<Record<string, string>>,
) => {
  const labels = { ...label, ...(serviceAccount === undefined ? {} : { [SERVICE_ACCOUNT]: serviceAccount }) };
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "ActionSet",
    metadata: { name, namespace, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    spec: { ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }), actions },
  };
};

const printed = (manifest: object, format: RunFlags["output"]): string => {
  if (format === "json") return `${JSON.stringify(manifest, undefined, 2)}\n`;
  return stringify(manifest, KUBERNETES_YAML);
};

const run = (blueprint: string, action: string, flags: RunFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const { namespace, api } = cluster;
    const objects: ObjectReference[] = [];
    for (const text of flags.object) objects.push(await objectOf(cluster, text));
    const parent = flags.from === undefined ? undefined : await readActionSet(cluster, flags.from);
    const actions = actionsFrom({ name: action, blueprint }, objects, givenBy(flags, namespace), parent);
    if (E.isLeft(actions)) throw new Failure(actions.left);
    const name = nameFor(action, flags);
    const { label = {}, serviceAccount = label[SERVICE_ACCOUNT] ?? (parent && namedServiceAccount(parent)) } = flags;
    const body = manifestOf(name, namespace, actions.right, serviceAccount, label);
    const shown = `actionset.${GROUP}/${name}`;
    const isPrinted = flags.output !== "name" && (flags.dryRun || flags.output !== undefined);
    if (!flags.dryRun) {
      const request = { verb: "create", resource: actionSets, namespace, body, fieldManager: "kubectl-janus" } as const;
      const answer = await api.send(request);
      if (E.isLeft(answer))
        throw new Failure(`cannot create ActionSet ${namespace}/${name}: ${cannotUseActionSets(answer.left)}`);
    }
    process.stdout.write(isPrinted ? printed(body, flags.output) : `${shown}\n`);
    return flags.wait && !flags.dryRun ? showActionSet(cluster, name, outputTo(process.stderr)) : 0;
  });

export const runCommand = command("run", "namespace of the ActionSet and its Blueprint, and of what names none")
  .argument("<blueprint>", "name of the Blueprint")
  .argument("<action>", "its action, such as backup")
  .addOption(
    new Option("--object <kind/namespace/name>", "object of the action, such as deployment/shop/web; may be repeated")
      .argParser(each)
      .default([], "none"),
  )
  .option("--from <actionset>", "go on from the artifacts of this one, with its objects and its ServiceAccount")
  .option("--profile <namespace/name>", "Profile: where backups are kept")
  .addOption(new Option("--option <name=value>", "an option; may be repeated").argParser(pair))
  .addOption(new Option("--secret <ref=namespace/name>", "a Secret of the action; may be repeated").argParser(pair))
  .addOption(
    new Option("--config-map <ref=namespace/name>", "a ConfigMap of the action; may be repeated").argParser(pair),
  )
  .option(
    "--service-account <name>",
    "ServiceAccount as which all is done; default: that of the parent, else of the controller",
  )
  .addOption(new Option("--label <name=value>", "a label of the ActionSet; may be repeated").argParser(pair))
  .addOption(new Option("--pod-label <name=value>", "a label of its Pods; may be repeated").argParser(pair))
  .addOption(new Option("--pod-annotation <name=value>", "an annotation of its Pods; may be repeated").argParser(pair))
  .option("--name <name>", "name of the ActionSet; default: the action, the parent and a random suffix")
  .option("--wait", "show its progress on the standard error until it has ended")
  .option("--dry-run", "print the ActionSet, and create nothing")
  .addOption(
    new Option("-o, --output <format>", "print it as yaml or json; default: its name").choices([
      "yaml",
      "json",
      "name",
    ]),
  )
  .addHelpText("after", "\nExit codes with --wait: 0 complete, 3 failed, 5 it was deleted meanwhile,\n1 error.")
  .action((blueprint: string, action: string, flags: RunFlags) => exitWith(run(blueprint, action, flags)));
