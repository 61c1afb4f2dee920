// The address, TLS options and credentials of an API server.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { createSecureContext } from "node:tls";
import type { Cluster, User } from "@kubernetes/client-node";
import * as E from "fp-ts/lib/Either.js";
import { reasonOf } from "../api/error-reason.ts";
import { type Authenticate, authenticatorOf } from "./authenticators.ts";

/** An API server, and how to authenticate to it. */
export interface Connection {
  /** URL; may have a path (of a proxy in front of several clusters). */
  readonly server: string;
  /** The namespace of the context, for callers without another default. */
  readonly namespace: string | undefined;
  /** `http(s)://`, or `socks5://`. */
  readonly proxy: string | undefined;
  /** Fresh each time: tokens and certificates expire, files are rotated, plugins are run again. Rejects with the reason. */
  readonly credentials: () => Promise<Credentials>;
}

/** Options of `tls.connect`. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

/** All authentication methods of client-node. Errors name `source`, where the configuration came from. */
export const connectionOf = (
  cluster: Cluster,
  user: User,
  namespace: string | undefined,
  source: string,
): E.Either<string, Connection> => {
  const wrong = (what: string) => E.left(`${source}: ${what}.`);
  const server = URL.parse(cluster.server);
  if (server === null || !/^https?:$/.test(server.protocol))
    return wrong(`the server of cluster "${cluster.name}" is "${cluster.server}"; it must be an http(s) URL`);
  if (cluster.proxyUrl !== undefined && !/^(https?|socks5?):$/.test(URL.parse(cluster.proxyUrl)?.protocol ?? ""))
    return wrong(`the proxy-url of cluster "${cluster.name}" is "${cluster.proxyUrl}"; use http, https or socks5`);
  // client-node refuses plain http (such as a kubectl proxy) unless TLS is said to be unverified; there is none to verify.
  const reached = { ...cluster, skipTLSVerify: cluster.skipTLSVerify || server.protocol === "http:" };
  try {
    for (const file of [cluster.caFile, user.certFile, user.keyFile, user.authProvider?.config?.tokenFile])
      if (typeof file === "string") readFileSync(file);
    const ca = pem(cluster.caFile, cluster.caData);
    if (ca !== undefined) void new X509Certificate(ca); // Node accepts any text as a CA, and then trusts no server
    createSecureContext({
      cert: pem(user.certFile, user.certData),
      key: pem(user.keyFile, user.keyData),
    });
  } catch (error) {
    return wrong(
      `the credentials of user "${user.name}" for cluster "${cluster.name}" cannot be read: ${reasonOf(error)}`,
    );
  }
  return E.right({
    server: cluster.server.replace(/\/+$/, ""),
    namespace,
    proxy: cluster.proxyUrl,
    credentials: credentialsOf(reached, user),
  });
};

const pem = (file: string | undefined, data: string | undefined): Buffer | undefined =>
  file ? readFileSync(file) : data ? Buffer.from(data, "base64") : undefined;

const present = <A extends object>(fields: A): Partial<A> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<A>;

const credentialsOf = (cluster: Cluster, user: User): (() => Promise<Credentials>) => {
  const authenticate: Authenticate = authenticatorOf(user);
  return async () => {
    const options = {
      ...present({
        ca: pem(cluster.caFile, cluster.caData),
        cert: pem(user.certFile, user.certData),
        key: pem(user.keyFile, user.keyData),
        servername: cluster.tlsServerName,
      }),
      ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
      headers: {},
    };
    await authenticate(options);
    const { headers, ca, cert, key, servername, rejectUnauthorized }: RequestOptions = options;
    const basic = user.username
      ? { authorization: `Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}` }
      : {};
    const said = {
      ...(user.impersonateUser ? { "impersonate-user": user.impersonateUser } : {}),
      ...basic,
      ...lowerCase(headers ?? {}),
      ...(user.token ? { authorization: `Bearer ${user.token.trim()}` } : {}),
    };
    return { headers: said, tls: present({ ca, cert, key, servername, rejectUnauthorized }) as TlsOptions };
  };
};

const lowerCase = (headers: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
