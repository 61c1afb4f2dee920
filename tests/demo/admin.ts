import type { Target } from "@janus/api";
import { type ApiError, type Client, connect, discovery, type KubeObject, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";

/** The administrator of the demo: what a person would do with kubectl. */
export interface Admin {
  readonly client: Client;
  readonly get: (target: Target) => Promise<KubeObject | undefined>;
  /** Server-side apply. */
  readonly apply: (object: KubeObject, fieldManager: string) => Promise<KubeObject>;
  /** `subresource`, such as `token`, of the object that the body names. */
  readonly create: (
    object: KubeObject,
    subresource?: { readonly of: Target; readonly name: string },
  ) => Promise<KubeObject>;
}

const answered = (what: string, answer: E.Either<ApiError, KubeObject>): KubeObject => {
  if (E.isLeft(answer)) throw new Error(`${what}: ${answer.left.message}`);
  return answer.right;
};

const targetOf = ({ apiVersion, kind, metadata: { name = "", namespace } }: KubeObject): Target => ({
  apiVersion,
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** Errors: everything here rejects with what the API server said. */
export const admin = (kubeconfig: string): Admin => {
  const config = loadConfig({}, kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const client = connect(config.right);
  const found = discovery(client);

  const place = async ({ apiVersion, kind, namespace }: Omit<Target, "name">) => {
    const resource = await found.resource(apiVersion, kind);
    if (E.isLeft(resource)) throw new Error(resource.left.message);
    return { resource: resource.right, ...(namespace === undefined ? {} : { namespace }) };
  };

  return {
    client,
    get: async (target) => {
      const answer = await client.send({ verb: "get", ...(await place(target)), name: target.name });
      if (E.isLeft(answer) && answer.left.type === "refused" && answer.left.code === 404) return undefined;
      return answered(`get ${target.kind} ${target.name}`, answer);
    },
    apply: async (body, fieldManager) => {
      const target = targetOf(body);
      const to = { ...(await place(target)), name: target.name };
      const answer = await client.send({ verb: "apply", ...to, body, fieldManager, force: true });
      return answered(`apply ${target.kind} ${target.name}`, answer);
    },
    create: async (body, subresource) => {
      const of = subresource?.of ?? targetOf(body);
      const under = subresource === undefined ? {} : { name: of.name, subresource: subresource.name };
      const answer = await client.send({ verb: "create", ...(await place(of)), ...under, body, fieldManager: "demo" });
      return answered(`create ${body.kind} ${of.name}`, answer);
    },
  };
};
