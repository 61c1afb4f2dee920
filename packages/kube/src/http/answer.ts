// Checks that a successful response is the object that was requested.
import * as E from "fp-ts/lib/Either.js";
import type { Request } from "../api/api.ts";
import { type ApiError, asObject, type KubeObject } from "@janus/types";
import { unanswered } from "./http-exchange.ts";

type OfResource = Exclude<Request, { readonly verb: "raw" }>;

/**
 * The body of a 2xx, if it is what was requested.
 *
 * Guarantees: an object of another kind, name, namespace or (if the request names one) uid is no valid response, nor is a list in
 *             place of an object: something between us and the API server has mixed up responses.
 * Not:        a forged response of the right form. If the request names no uid, any uid is valid.
 */
export const answerTo = (request: Request, answer: KubeObject): E.Either<ApiError, KubeObject> => {
  const wrong = request.verb === "raw" ? undefined : difference(request, answer);
  return wrong === undefined
    ? E.right(answer)
    : E.left(unanswered("malformed", `the answer to a ${request.verb} of a ${kindOf(request)} is ${wrong}`));
};

const kindOf = (request: Request): string => (request.verb === "raw" ? "path" : request.resource.kind);

const difference = (request: OfResource, answer: KubeObject): string | undefined => {
  if (request.verb === "list") return differentList(request, answer);
  if (request.verb === "delete" && answer.kind === "Status") return differentStatus(request, answer);
  const { resource, subresource } = request;
  // The response of a subresource other than status may have its own kind: a Scale, a TokenRequest, a Status.
  const isItself = subresource === undefined || subresource === "status";
  if (isItself && (answer.kind !== resource.kind || answer.apiVersion !== apiVersionOf(request)))
    return `a ${answer.kind} of ${answer.apiVersion}`;
  return isItself ? differentIdentity(request, answer.metadata) : undefined;
};

/** The list kind of built-in kinds, and of all that follow the conventions: `<Kind>List`. */
const differentList = (request: OfResource & { readonly verb: "list" }, { apiVersion, kind }: KubeObject) => {
  const isPartial = request.metadataOnly === true && kind === "PartialObjectMetadataList";
  const isWhole = kind === `${request.resource.kind}List` && apiVersion === apiVersionOf(request);
  return isPartial || isWhole ? undefined : `a ${kind} of ${apiVersion}`;
};

/** The Status of a completed deletion: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
const differentStatus = (request: OfResource & { readonly verb: "delete" }, status: KubeObject): string | undefined => {
  if (status["status"] === "Failure") return "a Status of failure";
  const details: Readonly<Record<string, unknown>> = asObject(status["details"]);
  const { name = request.name, uid = request.preconditions?.uid } = details;
  if (name !== request.name) return `about ${String(name)}`;
  const expected = request.preconditions?.uid;
  return expected === undefined || uid === expected ? undefined : `about the uid ${String(uid)}`;
};

interface Identity {
  readonly name?: unknown;
  readonly uid?: unknown;
}

const identityOf = (request: Exclude<OfResource, { readonly verb: "list" }>): Identity => {
  if (request.verb === "get") return { name: request.name };
  if (request.verb === "delete") return { name: request.name, uid: request.preconditions?.uid };
  const { metadata } = request.body as { readonly metadata?: unknown };
  const { name, uid } = asObject(metadata);
  return request.verb === "create" ? { name: request.name ?? name } : { name: request.name, uid };
};

const differentIdentity = (
  request: Exclude<OfResource, { readonly verb: "list" }>,
  { name, namespace, uid }: KubeObject["metadata"],
): string | undefined => {
  const expected = identityOf(request);
  // Reviews are not stored and have no name; that of generated objects is not known yet.
  if (expected.name === undefined || expected.name === "") return undefined;
  if (name !== expected.name || namespace !== request.namespace) return `of ${namespace ?? ""}/${name ?? ""}`;
  return expected.uid === undefined || uid === expected.uid ? undefined : `of the uid ${uid ?? ""}`;
};

const apiVersionOf = ({ resource: { group, version } }: OfResource): string =>
  group === "" ? version : `${group}/${version}`;
