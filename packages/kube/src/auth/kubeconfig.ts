// Loads a kubeconfig, or the in-cluster configuration, with the precedence of kubectl.
import { accessSync, constants, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Cluster, Context, User } from "@kubernetes/client-node";
import { newClusters, newContexts, newUsers } from "@kubernetes/client-node/dist/config_types.js";
import * as E from "fp-ts/lib/Either.js";
import { type Connection, connectionOf } from "./credentials.ts";
import { asObject, isObject } from "@janus/types";
import { reasonOf } from "../api/error-reason.ts";
import { parse as parseYaml } from "yaml";

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Entries of a kubeconfig by name, in place of those that it chooses: the flags `--context`, `--cluster` and `--user` of kubectl. */
export interface Chosen {
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
}

/**
 * The API server and the credentials.
 *
 * Sources, in this order: `path` (the flag `--kubeconfig`), KUBECONFIG (a list of files; the first one that sets a value
 * wins, as with kubectl), the ServiceAccount of the Pod, `~/.kube/config`.
 * `chosen`: default: the current context, with its cluster and its user.
 * Errors: a message with the file, what is wrong with it, and what to do.
 */
export const loadConfig = (
  env: NodeJS.ProcessEnv = process.env,
  path?: string,
  chosen: Chosen = {},
): E.Either<string, Connection> => {
  if (path !== undefined) return fromFiles([path], "--kubeconfig", chosen);
  const listed = listedIn(env);
  if (listed.length > 0) {
    const present = listed.filter(exists);
    return fromFiles(present.length > 0 ? present : listed, "KUBECONFIG", chosen);
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (Object.keys(chosen).length === 0 && host && port && exists(join(serviceAccount, "token")))
    return inCluster(host, port);
  const home = homeConfig(env);
  return exists(home)
    ? fromFiles([home], "the default kubeconfig", chosen)
    : E.left(
        `No Kubernetes cluster is configured: KUBECONFIG is not set, this is no Pod with a ServiceAccount token, and there is no ${home}. Set KUBECONFIG to a kubeconfig file.`,
      );
};

/** The names of what there is to choose from; what cannot be read has none. @param path as of {@link loadConfig} */
export const entriesOfKubeconfig = (
  env: NodeJS.ProcessEnv,
  path: string | undefined,
): Readonly<Record<keyof Chosen, readonly string[]>> => {
  const listed = listedIn(env);
  const files = path === undefined ? (listed.length > 0 ? listed : [homeConfig(env)]) : [path];
  const parsed = files.flatMap((file) =>
    E.toUnion(
      E.tryCatch(
        () => [parse(file)],
        () => [],
      ),
    ),
  );
  return {
    context: namesOf(parsed.flatMap(({ contexts }) => contexts)),
    cluster: namesOf(parsed.flatMap(({ clusters }) => clusters)),
    user: namesOf(parsed.flatMap(({ users }) => users)),
  };
};

const namesOf = (entries: readonly { readonly name: string }[]): readonly string[] => [
  ...new Set(entries.map(({ name }) => name)),
];

const listedIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");

const homeConfig = (env: NodeJS.ProcessEnv): string => join(env["HOME"] ?? homedir(), ".kube", "config");

const exists = (file: string): boolean => {
  try {
    accessSync(file, constants.F_OK);
    return true;
  } catch {
    return false;
  }
};

const inCluster = (host: string, port: string): E.Either<string, Connection> =>
  connectionOf(
    {
      name: "in-cluster",
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      caFile: join(serviceAccount, "ca.crt"),
      skipTLSVerify: false,
    },
    tokenFromFile({ name: "in-cluster" }, join(serviceAccount, "token")),
    exists(join(serviceAccount, "namespace"))
      ? readFileSync(join(serviceAccount, "namespace"), "utf8").trim()
      : undefined,
    "the Pod's ServiceAccount",
  );

/** client-node reads such a file again every minute. */
const tokenFromFile = (user: User, tokenFile: string): User => ({
  ...user,
  authProvider: { name: "tokenFile", config: { tokenFile } },
});

interface Parsed {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly current: string | undefined;
}

const fromFiles = (files: readonly string[], source: string, chosen: Chosen): E.Either<string, Connection> => {
  const wrong = (what: string, cure: string) => E.left(`${source} (${files.join(", ")}): ${what}. ${cure}`);
  const parsed: Parsed[] = [];
  for (const file of files) {
    try {
      parsed.push(parse(file));
    } catch (error) {
      return E.left(
        `${source}: ${file} cannot be used as a kubeconfig: ${reasonOf(error)}. Correct the file, or point ${source} to another one.`,
      );
    }
  }
  const contexts = parsed.flatMap((file) => file.contexts);
  const current = chosen.context ?? parsed.find((file) => file.current !== undefined)?.current;
  const known = contexts.map(({ name }) => name).join(", ") || "none";
  if (current === undefined)
    return wrong("no current-context is set", `Choose one with kubectl config use-context (known: ${known}).`);
  const context = named(contexts, current);
  if (context === undefined)
    return wrong(
      `the ${chosen.context === undefined ? "current-context" : "context"} "${current}" does not exist`,
      `Choose one with kubectl config use-context (known: ${known}).`,
    );
  const names = { ...context, ...chosen };
  const absent = (what: "cluster" | "user") =>
    chosen[what] === undefined
      ? wrong(`context "${current}" names the ${what} "${context[what]}", which does not exist`, "Add it.")
      : wrong(`the ${what} "${chosen[what]}" does not exist`, "To see which there are: kubectl config view.");
  const cluster = named(
    parsed.flatMap((file) => file.clusters),
    names.cluster,
  );
  if (cluster === undefined) return absent("cluster");
  const users = parsed.flatMap((file) => file.users);
  const user = names.user === undefined ? { name: "anonymous" } : named(users, names.user);
  if (user === undefined) return absent("user");
  return connectionOf(cluster, user, context.namespace, `${source} (${files.join(", ")})`);
};

const named = <T extends { readonly name: string }>(list: readonly T[], name: string): T | undefined =>
  list.find((entry) => entry.name === name);

/** Throws a message that says what is wrong. */
const parse = (file: string): Parsed => {
  const raw: unknown = parseYaml(readFileSync(file, "utf8"));
  if (!isObject(raw)) throw new Error("it is empty, or no YAML mapping");
  if (raw["kind"] !== undefined && raw["kind"] !== "Config")
    throw new Error(`its kind is ${JSON.stringify(raw["kind"])}, not "Config"`);
  for (const list of ["clusters", "users", "contexts"])
    if (raw[list] !== undefined && raw[list] !== null && !Array.isArray(raw[list]))
      throw new Error(`"${list}" is not a list`);
  const directory = dirname(file);
  const entries = Array.isArray(raw["users"]) ? raw["users"].filter(isObject) : [];
  const current = raw["current-context"];
  return {
    clusters: newClusters(raw["clusters"]).map((cluster) => withPaths(directory, cluster, ["caFile"])),
    contexts: newContexts(raw["contexts"]),
    current: typeof current === "string" && current !== "" ? current : undefined,
    users: newUsers(raw["users"]).map((one) => {
      const user = withPaths(directory, one, ["certFile", "keyFile"]);
      const spec = entries.find(({ name }) => name === user.name)?.["user"];
      return completed(user, asObject(spec), directory);
    }),
  };
};

/** Relative paths start at the directory of the kubeconfig. */
const withPaths = <A extends object>(directory: string, entry: A, fields: readonly (keyof A)[]): A => {
  const paths = fields.flatMap((field) => {
    const file = entry[field];
    return typeof file === "string" && file !== "" ? [[field, resolve(directory, file)]] : [];
  });
  return { ...entry, ...(Object.fromEntries(paths) as Partial<A>) };
};

/** Translates fields of a kubeconfig that client-node does not read into fields that it reads. */
const completed = (user: User, spec: Readonly<Record<string, unknown>>, directory: string): User => {
  const unsupported = ["as-groups", "as-uid", "as-user-extra"].find((field) => spec[field] !== undefined);
  if (unsupported !== undefined) throw new Error(`user "${user.name}" sets ${unsupported}, which is not supported`);
  const { tokenFile, exec } = spec;
  if (typeof tokenFile === "string") return tokenFromFile(user, resolve(directory, tokenFile));
  return isObject(exec) ? { ...user, exec: pluginOf(exec, directory) } : user;
};

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats */
const pluginOf = (exec: Readonly<Record<string, unknown>>, directory: string): object => {
  const { command, env, apiVersion } = exec;
  const execInfo = JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } });
  return {
    ...exec,
    command: typeof command === "string" && command.includes("/") ? resolve(directory, command) : command,
    env: [...(Array.isArray(env) ? env : []), { name: "KUBERNETES_EXEC_INFO", value: execInfo }],
  };
};
