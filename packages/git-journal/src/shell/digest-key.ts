// Reads the key of the digests of Secrets from a Secret of the cluster, which is made once.
import { randomBytes } from "node:crypto";
import type { Api, KubeObject, Request } from "@janus/kube";
import { asObject, isAbsent, isTaken, messageOf, secrets } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

const NAME = "janus-git-journal-digest";
const KEY_BYTES = 32;

const keyIn = (secret: KubeObject): Uint8Array | undefined => {
  const { key } = asObject(secret["data"]);
  const bytes = Buffer.from(typeof key === "string" ? key : "", "base64");
  return bytes.length === KEY_BYTES ? bytes : undefined;
};

/**
 * The key of the digests, the same for all replicas, for as long as the Secret exists.
 *
 * Guarantees: of several processes that make it at the same time, all get the one that was made.
 * Errors:     what is wrong with it, and what to do; never the key.
 */
export const digestKey = async (api: Api, namespace: string): Promise<E.Either<string, Uint8Array>> => {
  const get: Request = { verb: "get", resource: secrets, namespace, name: NAME };
  const body = (): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: NAME, namespace },
    type: "Opaque",
    immutable: true,
    data: { key: randomBytes(KEY_BYTES).toString("base64") },
  });
  const first = await api.send(get);
  const made =
    E.isLeft(first) && isAbsent(first.left)
      ? await api.send({ verb: "create", resource: secrets, namespace, body: body() })
      : first;
  const answer = E.isLeft(made) && isTaken(made.left) ? await api.send(get) : made;
  if (E.isLeft(answer)) return E.left(`Secret ${namespace}/${NAME} cannot be read or made: ${messageOf(answer.left)}`);
  const key = keyIn(answer.right);
  return key === undefined
    ? E.left(
        `Secret ${namespace}/${NAME} has no key of ${KEY_BYTES} bytes: delete it, and all Secrets are written anew`,
      )
    : E.right(key);
};
