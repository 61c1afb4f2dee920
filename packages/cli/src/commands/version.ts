// The command version: prints the versions of kubectl janus, the controller and Kubernetes.
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { Option } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { deployments } from "../cluster/resources.ts";
import { outputTo } from "../output/style.ts";
import manifest from "../../package.json" with { type: "json" };
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface VersionFlags extends ClusterFlags {
  readonly client?: true;
  readonly output?: "json" | "yaml";
  readonly systemNamespace: string;
}

const imageOf = (deployment: KubeObject): string => {
  const text = JSON.stringify(deployment["spec"]);
  return /"image":"([^"]+)"/u.exec(text)?.[1] ?? "unknown";
};

const versionOf = ({ metadata: { labels = {} } }: KubeObject): string | undefined =>
  labels["app.kubernetes.io/version"];

const ofCluster = (flags: VersionFlags): Promise<Readonly<Record<string, string>>> =>
  onCluster(flags, async ({ api }) => {
    const namespace = flags.systemNamespace;
    const [server, controller] = await Promise.all([
      api.send({ verb: "raw", path: "/version" }),
      api.send({ verb: "get", resource: deployments, namespace, name: CONTROLLER_NAME }),
    ]);
    const git = E.isRight(server) ? server.right["gitVersion"] : undefined;
    return {
      controller: E.isRight(controller)
        ? [versionOf(controller.right), imageOf(controller.right)].filter((one) => one !== undefined).join(", ")
        : "unknown: its Deployment cannot be read",
      kubernetes: typeof git === "string" ? git : "unknown: the API server does not answer",
    };
  });

const version = async (flags: VersionFlags): Promise<number> => {
  const { write } = outputTo(process.stdout);
  const versions = { client: manifest.version, ...(flags.client === true ? {} : await ofCluster(flags)) };
  if (flags.output === "json") write(`${JSON.stringify(versions, undefined, 2)}\n`);
  else if (flags.output === "yaml") write(stringify(versions));
  else for (const [of, value] of Object.entries(versions)) write(`${of}: ${value}\n`);
  return 0;
};

export const versionCommand = command("version")
  .option("--client", "only that of kubectl-janus")
  .option("--system-namespace <name>", "namespace of the controller", SYSTEM_NAMESPACE)
  .addOption(new Option("-o, --output <format>", "format").choices(["json", "yaml"]))
  .action((flags: VersionFlags) => exitWith(version(flags)));
