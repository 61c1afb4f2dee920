// Authenticates requests with exec plugins, tokens and client certificates of client-node.
import type { RequestOptions } from "node:https";
import type { User } from "@kubernetes/client-node";
// Its index, like its KubeConfig, brings the types of all of Kubernetes: 80 MiB of memory, and most of a second at the start.
import { ExecAuth } from "@kubernetes/client-node/dist/exec_auth.js";
import { FileAuth } from "@kubernetes/client-node/dist/file_auth.js";

/** Puts a token, or a client certificate, into the options of a request. Rejects with the reason. */
export type Authenticate = (
  options: RequestOptions & { headers: NonNullable<RequestOptions["headers"]> },
) => Promise<void>;

type Authenticator = Pick<ExecAuth, "isAuthProvider" | "applyAuthentication">;

/** Those of `auth-provider`, each loaded only if a user has one. */
const PROVIDERS: readonly (() => Promise<Authenticator>)[] = [
  async () => new (await import("@kubernetes/client-node/dist/azure_auth.js")).AzureAuth(),
  async () => new (await import("@kubernetes/client-node/dist/gcp_auth.js")).GoogleCloudPlatformAuth(),
  async () => new (await import("@kubernetes/client-node/dist/oidc_auth.js")).OpenIDConnectAuth(),
];

/** Undefined if client-node has none for the user. */
const providerOf = async (user: User): Promise<Authenticator | undefined> => {
  for (const load of PROVIDERS) {
    const provider = await load();
    if (provider.isAuthProvider(user)) return provider;
  }
  return undefined;
};

/** All kinds of authentication of client-node. Credentials of plugins and files are cached for a while. */
export const authenticatorOf = (user: User): Authenticate => {
  const own = [new ExecAuth(), new FileAuth()].find((one) => one.isAuthProvider(user));
  if (own !== undefined) return async (options) => own.applyAuthentication(user, options);
  if (!user.authProvider) return () => Promise.resolve();
  const loaded = providerOf(user);
  // The first request reports the error.
  loaded.catch(() => undefined);
  return async (options) => (await loaded)?.applyAuthentication(user, options);
};
