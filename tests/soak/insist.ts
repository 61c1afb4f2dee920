import { setTimeout } from "node:timers/promises";
import { classify } from "@janus/types";
import { type Api, type ApiError, type KubeObject, listAll, type Request, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

/** Somebody who asks the API server again and again until it answers. */
export interface Insistent {
  /** Undefined: there is none. */
  readonly read: (resource: Resource, namespace: string, name: string) => Promise<KubeObject | undefined>;
  /** As it is there in the end: made now, or by an earlier sending. */
  readonly create: (resource: Resource, namespace: string, object: Named) => Promise<KubeObject>;
  /** JSON merge patch; false: there is no such object. */
  readonly patch: (resource: Resource, namespace: string, name: string, body: object) => Promise<boolean>;
  readonly remove: (resource: Resource, namespace: string, name: string) => Promise<void>;
  readonly list: (resource: Resource) => Promise<readonly KubeObject[]>;
}

interface Named {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

const AGAIN = 250;

const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`);
const isCode = (error: ApiError, code: number): boolean => error.type === "refused" && error.code === code;

const must = <A>(answer: E.Either<ApiError, A>): A => {
  if (E.isLeft(answer)) throw new Error(answer.left.message);
  return answer.right;
};
const place = (resource: Resource, namespace: string) => ({
  resource,
  ...(resource.namespaced ? { namespace } : {}),
});

/** Errors: rejects with what the API server refuses for good, and when `signal` is aborted. */
export const insistent = (api: Api, signal: AbortSignal): Insistent => {
  const until = async <A>(ask: () => Promise<E.Either<ApiError, A>>): Promise<E.Either<ApiError, A>> => {
    for (;;) {
      signal.throwIfAborted();
      const answer = await ask();
      if (E.isRight(answer) || classify(answer.left) !== "transient") return answer;
      await setTimeout(AGAIN);
    }
  };
  const send = (request: Request) => until(() => api.send(request));
  const read: Insistent["read"] = async (resource, namespace, name) => {
    const answer = await send({ verb: "get", ...place(resource, namespace), name });
    return E.isLeft(answer) && isCode(answer.left, 404) ? undefined : must(answer);
  };
  return {
    read,
    create: async (resource, namespace, object) => {
      const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
      const to = place(resource, namespace);
      const answer = await send({ verb: "create", ...to, body, fieldManager: "somebody" });
      const there =
        E.isLeft(answer) && isCode(answer.left, 409)
          ? await read(resource, namespace, object.metadata.name)
          : undefined;
      return there ?? must(answer);
    },
    patch: async (resource, namespace, name, body) => {
      const to = place(resource, namespace);
      const answer = await send({ verb: "mergePatch", ...to, name, body, fieldManager: "somebody" });
      if (E.isLeft(answer) && isCode(answer.left, 404)) return false;
      must(answer);
      return true;
    },
    remove: async (resource, namespace, name) => {
      const answer = await send({ verb: "delete", ...place(resource, namespace), name });
      if (E.isLeft(answer) && !isCode(answer.left, 404)) must(answer);
    },
    list: async (resource) => must(await until(() => listAll(api, { resource }))).items,
  };
};
