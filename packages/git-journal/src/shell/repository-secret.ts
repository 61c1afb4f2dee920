// Reads the credentials of a repository from its Secret, each time that they are used.
import type { Api, ApiError, KubeObject } from "@janus/kube";
import { asObject, secrets } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type Failed, refused } from "../core/configured.ts";
import {
  type Authentication,
  authenticationFor,
  type CredentialsSecret,
  type SecretMalformed,
} from "../core/credentials.ts";
import type { RepositoryUrl } from "../core/repository-url.ts";

export interface ReadCredentials {
  /** The version of the Secret; undefined: there is none. */
  readonly version: string | undefined;
  readonly authentication: E.Either<Failed, Authentication>;
}

const decoded = (object: KubeObject): CredentialsSecret["data"] =>
  Object.fromEntries(
    Object.entries(asObject(object["data"])).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, Buffer.from(value, "base64").toString("utf8")]] : [],
    ),
  );

const read = (url: RepositoryUrl, secret: CredentialsSecret | undefined): E.Either<Failed, Authentication> =>
  E.mapLeft(({ reason, message }: SecretMalformed) => refused(reason, message))(authenticationFor(url, secret));

const notFound = (name: string): Failed => ({
  type: "failed",
  reason: "SecretNotFound",
  message: `there is no Secret ${name}: create it, or change secretRef`,
  lasts: false,
});

/**
 * Reads the Secret, and takes the credentials from it, or from the URL.
 *
 * @param secret `namespace/name`
 *
 * @returns on the left why the API server did not answer
 */
export const readCredentials = async (
  api: Api,
  url: RepositoryUrl,
  secret: string | undefined,
): Promise<E.Either<ApiError, ReadCredentials>> => {
  if (secret === undefined) return E.right({ version: undefined, authentication: read(url, undefined) });
  const at = secret.indexOf("/");
  const [namespace, name] = [secret.slice(0, at), secret.slice(at + 1)];
  const answer = await api.send({ verb: "get", resource: secrets, namespace, name, purpose: "read-credentials" });
  if (E.isRight(answer)) {
    const { resourceVersion, uid } = answer.right.metadata;
    return E.right({
      version: `${uid} ${resourceVersion}`,
      authentication: read(url, { namespace, name, data: decoded(answer.right) }),
    });
  }
  const error = answer.left;
  if (error.type !== "refused" || ![400, 403, 404].includes(error.code)) return E.left(error);
  // The code 400 says that no object can have this name.
  const why =
    error.code === 403
      ? refused("SecretNotFound", `the controller may not read Secret ${secret}: ${error.message}`)
      : notFound(secret);
  return E.right({ version: undefined, authentication: E.left(why) });
};
