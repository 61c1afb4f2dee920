// Makes an object once: what is there with the mark of the phase is taken for it, what others have made is not.
import { type ApiError, isTaken, type KubeObject, messageOf, type Resource, without } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { MADE_BY } from "../api/names.ts";
import { show } from "./names.ts";
import { isOfPhase, madeBy, type PhaseContext } from "./phase-context.ts";
import { create, get, type Inquiry, type ObjectRef } from "./requests.ts";

export const nameOf = ({ resource, namespace, name }: ObjectRef): string =>
  `${resource.kind} ${show({ ...(namespace === undefined ? {} : { namespace }), name })}`;

export const placeOf = (resource: Resource, namespace: string, name: string): ObjectRef => ({
  resource,
  name,
  ...(resource.namespaced ? { namespace } : {}),
});

/** The time for which a namespace may be missing, in ms: something before the API server may say so falsely. */
const NAMESPACE_TIMEOUT = 60_000;

const isMissingPlace = (trouble: ApiError | undefined): trouble is ApiError =>
  trouble?.type === "refused" && trouble.code === 404;

const marked = (context: PhaseContext, ref: ObjectRef, body: KubeObject): KubeObject => {
  return {
    ...body,
    metadata: {
      ...without(body.metadata, ["resourceVersion", "uid", "generateName", "namespace"]),
      name: ref.name,
      ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
      annotations: { ...body.metadata.annotations, [MADE_BY]: madeBy(context) },
    },
  };
};

/**
 * The object, once it has been made. Left: why it cannot be. Undefined: it is still to be asked for.
 *
 * Guarantees: one that this phase has made before, and whose answer was lost, is taken for it; that of another client fails.
 *
 * @param fact names the requests within the phase
 */
export const madeObject = (
  { ask }: Inquiry,
  context: PhaseContext,
  fact: string,
  ref: ObjectRef,
  body: KubeObject,
): E.Either<string, KubeObject> | undefined => {
  const answer = ask(
    create("create-object", `create/${fact}`, ref.resource, marked(context, ref, body), context.serviceAccount),
  );
  const trouble = context.trouble(`create/${fact}`);
  if (answer === undefined && isMissingPlace(trouble) && context.now >= context.startedAt + NAMESPACE_TIMEOUT)
    return E.left(`${nameOf(ref)} cannot be created: ${messageOf(trouble)}`);
  if (answer === undefined || E.isRight(answer)) return answer;
  if (!isTaken(answer.left)) return E.left(`${nameOf(ref)} cannot be created: ${messageOf(answer.left)}`);
  const there = ask(get("read-object", `existing/${fact}`, ref, context.serviceAccount));
  if (there === undefined) return undefined;
  if (E.isLeft(there)) return E.left(`${nameOf(ref)} exists and cannot be read: ${messageOf(there.left)}`);
  return isOfPhase(context, there.right)
    ? there
    : E.left(`${nameOf(ref)} exists and is not of this ActionSet: delete it, or choose another name`);
};
