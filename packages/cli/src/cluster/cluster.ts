// Opens the cluster of a command from the flags of kubectl, and sends requests as its user.
import {
  type Api,
  type ApiError,
  type Client,
  connect,
  type Discovery,
  discovery,
  type KubeObject,
  loadConfig,
  type Request,
} from "@janus/kube";
import { isUnserved, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";

/** Flags of every command, as kubectl has them. */
export interface ClusterFlags {
  readonly namespace?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly kubeconfig?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  /** Milliseconds; undefined: as long as suits each request. */
  readonly requestTimeout?: number;
}

/** The cluster that a command works on, as the user who runs it. */
export interface Cluster {
  readonly api: Client;
  readonly discovery: Discovery;
  /** `--namespace`, or that of the context. */
  readonly namespace: string;
  readonly server: string;
}

/** All requests as `--as`, except for those as a ServiceAccount. */
const impersonating = (api: Client, { as, asGroup = [] }: ClusterFlags): Client => {
  if (as === undefined) return api;
  const user = { user: as, ...(asGroup.length === 0 ? {} : { groups: asGroup }) };
  return {
    ...api,
    send: (request) => api.send({ as: user, ...request }),
    watch: (request, signal) => api.watch({ as: user, ...request }, signal),
    log: (request, signal) => api.log({ as: user, ...request }, signal),
    exec: (request, signal) => api.exec({ as: user, ...request }, signal),
  };
};

/** Errors: without a usable kubeconfig. Nothing is sent yet. */
export const openCluster = (flags: ClusterFlags): Cluster => {
  const { kubeconfig, context, cluster, user, as, asGroup = [], requestTimeout } = flags;
  if (as === undefined && asGroup.length > 0) throw new Failure("--as-group needs --as: name the user, too");
  const connection = loadConfig(process.env, kubeconfig, {
    ...(context === undefined ? {} : { context }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(user === undefined ? {} : { user }),
  });
  if (E.isLeft(connection)) throw new Failure(connection.left);
  const bounds =
    requestTimeout === undefined ? {} : { deadline: requestTimeout, writeTimeout: Math.min(5000, requestTimeout) };
  const api = impersonating(connect(connection.right, bounds), flags);
  return {
    api,
    discovery: discovery(api),
    namespace: flags.namespace ?? connection.right.namespace ?? "default",
    server: connection.right.server,
  };
};

/** Works on the cluster, and closes its connections in the end. */
export const onCluster = async <Result>(
  flags: ClusterFlags,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> => {
  const cluster = openCluster(flags);
  try {
    return await work(cluster);
  } finally {
    await cluster.api.close();
  }
};

/** The answer. Errors: as {@link Failure}, after `what`, such as `cannot read Transaction shop/web`. */
export const sent = async (api: Api, request: Request, what: string): Promise<KubeObject> =>
  orFail(await api.send(request), what);

/** {@link sent}, of what has been answered. */
export const orFail = (answer: E.Either<ApiError, KubeObject>, what: string): KubeObject => {
  if (E.isRight(answer)) return answer.right;
  throw new Failure(`${what}: ${messageOf(answer.left)}`);
};

/** The answer; undefined if there is no such object. */
export const found = async (api: Api, request: Request, what: string): Promise<KubeObject | undefined> => {
  const answer = await api.send(request);
  if (E.isRight(answer)) return answer.right;
  if (isNotFound(answer.left)) return undefined;
  throw new Failure(`${what}: ${cannotUse(answer.left)}`);
};

/** Why a request for a Transaction failed, and what to do if that is because no Transactions are served. */
export const cannotUse = (error: ApiError): string =>
  isUnserved(error) ? "Janus is not installed in this cluster: kubectl janus doctor" : messageOf(error);

const isNotFound = (error: ApiError): boolean => error.type === "refused" && error.notFound === "object";
