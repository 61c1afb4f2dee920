// Reads and decodes stored ActionSets.
import { report } from "@janus/api";
import { ActionSet, actionSets, GROUP } from "@janus/blueprints/authoring";
import type { ApiError, KubeObject } from "@janus/kube";
import { isUnserved, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import type { Cluster } from "./cluster.ts";

/** Why a request for an ActionSet failed, and what to do if that is because none are served. */
export const cannotUseActionSets = (error: ApiError): string =>
  isUnserved(error) ? `no ActionSets are served: there is no CustomResourceDefinition of ${GROUP}` : messageOf(error);

/** Errors: where a field has a type that it must not have. */
export const actionSetIn = (object: KubeObject): ActionSet => {
  const decoded = ActionSet.decode(object);
  if (E.isRight(decoded)) return decoded.right;
  const { namespace = "", name = "" } = object.metadata;
  throw new Failure(`ActionSet ${namespace}/${name} is not valid: ${report(decoded.left)}`);
};

/** Errors: if there is none of that name. */
export const readActionSet = async ({ api, namespace }: Cluster, name: string): Promise<ActionSet> => {
  const answer = await api.send({ verb: "get", resource: actionSets, namespace, name });
  if (E.isRight(answer)) return actionSetIn(answer.right);
  throw new Failure(`cannot read ActionSet ${namespace}/${name}: ${cannotUseActionSets(answer.left)}`);
};
