// Resolves arguments such as deployment/web to an object, as kubectl does.
import { messageOf } from "@janus/types";
import { type NamedKind, namedKinds, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import type { Cluster } from "./cluster.ts";

/** The place of an object that exists, or did. */
export interface Place {
  readonly resource: Resource;
  /** Absent: it is cluster-scoped. */
  readonly namespace?: string;
  readonly name: string;
}

/** `deploy`, `deployments.apps` and `deployments.v1.apps`, as kubectl takes them. The version does not matter. */
const matching = (kinds: readonly NamedKind[], wanted: string): Resource | undefined => {
  const [word = "", ...rest] = wanted.toLowerCase().split(".");
  const [first = ""] = rest;
  const group = (/^v\d/u.test(first) ? rest.slice(1) : rest).join(".");
  const ofGroup = kinds.filter(({ resource }) => rest.length === 0 || resource.group === group);
  return ofGroup.find(({ names }) => names.includes(word))?.resource;
};

/** The kind that kubectl calls by this name, if one is served. Errors: if it cannot be found out which are. */
export const namedKind = async ({ api }: Cluster, name: string): Promise<Resource | undefined> => {
  const kinds = await namedKinds(api);
  if (E.isLeft(kinds)) throw new Failure(`cannot find out which kinds there are: ${messageOf(kinds.left)}`);
  return matching(kinds.right, name);
};

/**
 * The object that the arguments of a command name, in the ways of kubectl: `deployment/web`, `deployment.apps web`.
 *
 * Errors: if they name none, or no kind that is served.
 */
export const namedObject = async (cluster: Cluster, target: string, second: string | undefined): Promise<Place> => {
  const [kind = "", name, ...more] = second === undefined ? target.split("/") : [target, second];
  if (kind === "" || name === undefined || name === "" || more.length > 0 || name.includes("/"))
    throw new Failure(
      `${[target, second].filter(Boolean).join(" ")}: name an object as kubectl does, like deployment/web`,
    );
  const resource = await namedKind(cluster, kind);
  if (resource === undefined)
    throw new Failure(`the API server serves no kind ${kind}. To list them: kubectl api-resources`);
  return { resource, name, ...(resource.namespaced ? { namespace: cluster.namespace } : {}) };
};
