// Reads the credentials of a repository from its Secret and its URL.
import * as E from "fp-ts/lib/Either.js";
import type { RepositoryUrl } from "./repository-url.ts";

export type Credentials =
  | { readonly by: "nothing" }
  | { readonly by: "password"; readonly username: string; readonly password: string }
  | { readonly by: "token"; readonly token: string }
  | {
      readonly by: "key";
      readonly privateKey: string;
      readonly passphrase: string | undefined;
      readonly knownHosts: string;
    };

export interface Authentication {
  /** The protocol of the URL. */
  readonly protocol: RepositoryUrl["protocol"];
  readonly credentials: Credentials;
  /** The certificate of the server's CA, in PEM; undefined: the CAs of the system. */
  readonly ca: string | undefined;
}

export interface SecretMalformed {
  readonly reason: "SecretMalformed";
  /** The message, never with a value of the Secret. */
  readonly message: string;
}

/** A Secret with decoded values. */
export interface CredentialsSecret {
  readonly namespace: string;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Removes the line feed with which editors and `echo` end a text. */
const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/u, "");

const value = ({ data }: CredentialsSecret, ...keys: readonly string[]): string | undefined =>
  keys
    .map((key) => (Object.hasOwn(data, key) ? data[key] : undefined))
    .find((text) => text !== undefined && text !== "");

const scan = ({ host, port }: RepositoryUrl): string =>
  `ssh-keyscan ${port === undefined ? "" : `-p ${port} `}${host.replaceAll(/[[\]]/gu, "")}`;

/** Whether a text fits on a line of HTTP. */
const isOneLine = (text: string): boolean => !/\p{Cc}/u.test(text);

const ofSsh = (url: RepositoryUrl, secret: CredentialsSecret): E.Either<string, Credentials> => {
  const privateKey = value(secret, "ssh-privatekey", "identity");
  const knownHosts = value(secret, "known_hosts");
  const passphrase = value(secret, "ssh-password", "password");
  if (privateKey === undefined) return E.left("has no ssh-privatekey (or identity): add the private key");
  if (knownHosts === undefined) return E.left(`has no known_hosts: add the output of ${scan(url)}`);
  return E.right({
    by: "key",
    privateKey,
    passphrase: passphrase === undefined ? undefined : withoutLineEnd(passphrase),
    knownHosts,
  });
};

const ofHttp = (secret: CredentialsSecret): E.Either<string, Credentials> => {
  const [username, password, token] = ["username", "password", "bearerToken"].map((key) => {
    const text = value(secret, key);
    return text === undefined ? undefined : withoutLineEnd(text);
  });
  if (![username, password, token].every((text) => text === undefined || isOneLine(text)))
    return E.left("has a control character in username, password or bearerToken: remove it");
  if (username?.includes(":") === true) return E.left("has a colon in username, which HTTP does not allow");
  if (username !== undefined && password !== undefined) return E.right({ by: "password", username, password });
  if (username !== undefined || password !== undefined)
    return E.left(`has no ${username === undefined ? "username" : "password"}: add it, or use bearerToken`);
  return token === undefined ? E.right({ by: "nothing" }) : E.right({ by: "token", token });
};

/** The credentials in a URL, for a Secret that has none. */
const ofUrl = ({ user }: RepositoryUrl): Credentials =>
  user === undefined ? { by: "nothing" } : { by: "password", username: user.name, password: user.password ?? "" };

/**
 * Finds the credentials for a repository: those of its Secret, else those of its URL.
 *
 * Guarantees: for ssh there are always host keys to check; nothing that goes into a header has a line end.
 */
export const authenticationFor = (
  url: RepositoryUrl,
  secret: CredentialsSecret | undefined,
): E.Either<SecretMalformed, Authentication> => {
  const { protocol } = url;
  const malformed = (what: string): SecretMalformed => ({
    reason: "SecretMalformed",
    message: secret === undefined ? what : `Secret ${secret.namespace}/${secret.name} ${what}`,
  });
  if (secret === undefined)
    return protocol === "ssh"
      ? E.left(malformed("secretRef is required for ssh: a Secret with ssh-privatekey and known_hosts"))
      : E.right({ protocol, credentials: ofUrl(url), ca: undefined });
  const credentials = protocol === "ssh" ? ofSsh(url, secret) : ofHttp(secret);
  return E.bimap(
    malformed,
    (credentials: Credentials): Authentication => ({
      protocol,
      credentials: credentials.by === "nothing" ? ofUrl(url) : credentials,
      ca: protocol === "https" ? value(secret, "ca.crt", "caFile") : undefined,
    }),
  )(credentials);
};
