// Reads where a GitDestination writes: its repository with the credentials, its branch and its folder.
import { report } from "@janus/api";
import type { Codec } from "@janus/api/codec";
import { secrets } from "@janus/controller";
import {
  type Authentication,
  authenticationFor,
  GitDestination,
  gitDestinations,
  GitRepoConfig,
  gitRepoConfigs,
  type RepositoryUrl,
  repositoryUrl,
} from "@janus/git-journal/way-back";
import type { KubeObject, Resource } from "@janus/kube";
import { asObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type Cluster, found } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";

/** Where files are. */
export interface Destination {
  /** Such as `GitDestination shop/live`. */
  readonly name: string;
  readonly namespace: string;
  readonly repoRef: { readonly name: string; readonly namespace: string };
  readonly branch: string;
  readonly baseFolder: string;
}

/** A repository on a server, as its GitRepoConfig says. */
export interface RemoteRepository {
  readonly url: RepositoryUrl;
  readonly authentication: Authentication;
  /** Such as `shop/cred`. */
  readonly secret: string | undefined;
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

const CLONE = "name a clone instead: --repo DIRECTORY";

const read = async <A>(
  { api }: Cluster,
  resource: Resource,
  { namespace, name }: Place,
  codec: Codec<A>,
): Promise<A> => {
  const what = `${resource.kind} ${namespace}/${name}`;
  const object = await found(api, { verb: "get", resource, namespace, name }, `cannot read ${what}`);
  if (object === undefined) throw new Failure(`there is no ${what}`);
  const decoded = codec.decode(object);
  if (E.isRight(decoded)) return decoded.right;
  throw new Failure(`${what} is not valid: ${report(decoded.left)}`);
};

/** Of the flag --destination: NAMESPACE/NAME, or the name of one in the namespace of the command. */
export const readDestination = async (cluster: Cluster, flag: string): Promise<Destination> => {
  const [first = "", second, ...more] = flag.split("/");
  const place =
    second === undefined ? { namespace: cluster.namespace, name: first } : { namespace: first, name: second };
  if (place.namespace === "" || place.name === "" || more.length > 0)
    throw new Failure(`--destination ${flag}: name a GitDestination, as NAMESPACE/NAME`);
  const { namespace } = place;
  const { spec } = await read(cluster, gitDestinations, place, GitDestination);
  const { name, namespace: there = namespace } = spec.repoRef;
  return {
    name: `GitDestination ${namespace}/${place.name}`,
    namespace,
    repoRef: { name, namespace: there },
    branch: spec.branch,
    baseFolder: spec.baseFolder,
  };
};

const decoded = ({ data }: KubeObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(asObject(data)).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, Buffer.from(value, "base64").toString("utf8")]] : [],
    ),
  );

/** The repository of a destination, with the credentials that the user may read. */
export const readRepository = async (cluster: Cluster, { repoRef }: Destination): Promise<RemoteRepository> => {
  const { namespace, name } = repoRef;
  const { spec } = await read(cluster, gitRepoConfigs, repoRef, GitRepoConfig);
  const what = `GitRepoConfig ${namespace}/${name}`;
  const url = repositoryUrl(spec.repoUrl);
  if (E.isLeft(url)) throw new Failure(`${what}: ${url.left}`);
  const { secretRef } = spec;
  const secret = secretRef === undefined ? undefined : `${namespace}/${secretRef.name}`;
  const object =
    secretRef === undefined
      ? undefined
      : await found(
          cluster.api,
          { verb: "get", resource: secrets, namespace, name: secretRef.name },
          `cannot read the credentials of ${what}; ${CLONE}`,
        );
  if (secretRef !== undefined && object === undefined)
    throw new Failure(`there is no Secret ${secret}, which ${what} names`);
  const authentication = authenticationFor(
    url.right,
    object === undefined || secretRef === undefined
      ? undefined
      : { namespace, name: secretRef.name, data: decoded(object) },
  );
  if (E.isLeft(authentication)) throw new Failure(`${authentication.left.message}; or ${CLONE}`);
  return { url: url.right, authentication: authentication.right, secret };
};
