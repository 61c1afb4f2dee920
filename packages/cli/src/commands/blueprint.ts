// The command blueprint: checks Blueprints, and shows what they render and which permissions they need. Needs no cluster.
import { report } from "@janus/api";
import {
  actionNamed,
  Blueprint,
  type BlueprintAction,
  blueprintFindings,
  renderedAction,
  rolesOf,
  valuesOf,
} from "@janus/blueprints/authoring";
import { readYaml, textOfBytes, YamlError } from "@janus/types";
import { Command } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { Failure } from "../failure.ts";
import { kanisterManifests } from "../manifests/kanister-manifests.ts";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import type { Located } from "../manifests/read-manifests.ts";
import { sourcesOf } from "../manifests/sources.ts";
import { printable } from "../output/printable.ts";
import { outputTo, painter } from "../output/style.ts";
import { exitWith } from "./exit-with.ts";

const nameOf = ({ manifest }: Located): string => `Blueprint ${manifest.metadata.name}`;

const validate = async (files: readonly string[]): Promise<number> => {
  const output = outputTo(process.stdout);
  const paint = painter(output);
  let isRefused = false;
  for (const located of await kanisterManifests(files, "Blueprint")) {
    const { errors, warnings } = printable(blueprintFindings(located.manifest));
    output.write(`${nameOf(located)} (${located.where}): ${errors.length === 0 ? "valid" : "not valid"}\n`);
    for (const one of errors) output.write(`  ${paint("red", "error:")} ${one}\n`);
    for (const one of warnings) output.write(`  ${paint("yellow", "warning:")} ${one}\n`);
    isRefused ||= errors.length > 0;
  }
  return isRefused ? 1 : 0;
};

/** The only Blueprint of a file. */
const blueprintIn = async (
  file: string,
): Promise<{ readonly name: string; readonly namespace: string; readonly blueprint: Blueprint }> => {
  const [located, ...more] = await kanisterManifests([file], "Blueprint");
  if (located === undefined || more.length > 0)
    throw new Failure(`${file} has ${more.length + 1} Blueprints: give a file with one`);
  const decoded = Blueprint.decode(located.manifest);
  if (E.isLeft(decoded)) throw new Failure(`${located.where}: ${report(decoded.left)}`);
  const { name, namespace = "default" } = located.manifest.metadata;
  return { name, namespace, blueprint: decoded.right };
};

const actionIn = (blueprint: Blueprint, shown: string, name: string): BlueprintAction => {
  const found = actionNamed(blueprint, shown, name);
  if (E.isRight(found)) return found.right;
  throw new Failure(found.left);
};

const readValues = async (path: string | undefined): Promise<unknown> => {
  if (path === undefined) return {};
  const [source] = sourcesOf(path, false);
  if (source === undefined) throw new Failure(`${path} is no file`);
  try {
    return readYaml(textOfBytes(await source.read()))[0]?.value ?? {};
  } catch (error) {
    if (error instanceof YamlError) throw new Failure(`${path}, line ${error.line}: ${error.message}`);
    throw error;
  }
};

interface RenderFlags {
  readonly action: string;
  readonly values?: string;
  readonly namespace?: string;
}

const render = async (file: string, { action, values: path, ...flags }: RenderFlags): Promise<number> => {
  const { name: called, blueprint, ...its } = await blueprintIn(file);
  const { namespace = its.namespace } = flags;
  const values = valuesOf(await readValues(path));
  if (E.isLeft(values)) throw new Failure(`${path}: ${values.left}`);
  const at = { namespace, time: new Date().toISOString() };
  const { phases, artifacts } = renderedAction(
    action,
    actionIn(blueprint, `Blueprint ${called}`, action),
    values.right,
    at,
  );
  const problems = new Set<string>();
  const right = <A>(one: E.Either<string, A>): readonly A[] => {
    if (E.isRight(one)) return [one.right];
    problems.add(one.left);
    return [];
  };
  const rendered = {
    phases: phases.flatMap(({ name, func, args }) => right(args).map((known) => ({ name, func, args: known }))),
    artifacts: right(artifacts)[0] ?? {},
  };
  outputTo(process.stdout).write(stringify(rendered, KUBERNETES_YAML));
  if (problems.size > 0) throw new Failure(printable({ message: [...problems].join("\n") }).message);
  return 0;
};

interface PermissionsFlags {
  readonly action?: string;
  readonly namespace?: string;
}

const permissions = async (file: string, { action, ...flags }: PermissionsFlags): Promise<number> => {
  const { name, blueprint, ...its } = await blueprintIn(file);
  const { namespace = its.namespace } = flags;
  const actions =
    action === undefined ? (blueprint.actions ?? {}) : { [action]: actionIn(blueprint, `Blueprint ${name}`, action) };
  const { manifests, unknown } = rolesOf(name, actions, namespace);
  const output = outputTo(process.stdout);
  for (const line of printable(unknown)) output.write(`# ${line}\n`);
  output.write(manifests.map((one) => stringify(one, KUBERNETES_YAML)).join("---\n"));
  return 0;
};

const NAMESPACE = [
  "-n, --namespace <name>",
  'namespace of the ActionSet, and of what names none (default: that of the Blueprint, or "default")',
] as const;

export const blueprintCommand = new Command("blueprint")
  .helpCommand(false)
  .addCommand(
    new Command("validate")
      .description("say what is wrong with Blueprints, in the words of the controller")
      .argument("<files...>", "files, directories, URLs, or - for the standard input")
      .addHelpText("after", "\nExit codes: 0 nothing is wrong, but for warnings, 1 something is, or an error.")
      .action((files: readonly string[]) => exitWith(validate(files))),
  )
  .addCommand(
    new Command("render")
      .description("print the arguments of all phases of an action as they would be rendered")
      .argument("<file>", "file with one Blueprint, or -")
      .requiredOption("--action <name>", "the action")
      .option(
        "--values <file>",
        "what stands for the cluster: object, workload, configMaps, secrets, profile and objects (manifests), options, artifacts, and outputs of phases",
      )
      .option(...NAMESPACE)
      .addHelpText("after", "\nValues of Secrets are shown as ***. Exit codes: 0 all is rendered, 1 error.")
      .action((file: string, flags: RenderFlags) => exitWith(render(file, flags))),
  )
  .addCommand(
    new Command("permissions")
      .description("print the Role that the ServiceAccount needs")
      .argument("<file>", "file with one Blueprint, or -")
      .option("--action <name>", "only for this action")
      .option(...NAMESPACE)
      .action((file: string, flags: PermissionsFlags) => exitWith(permissions(file, flags))),
  );
