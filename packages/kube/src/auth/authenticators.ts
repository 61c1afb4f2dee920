import type { RequestOptions } from "node:https";
import type { Cluster, User } from "@kubernetes/client-node";
// Its index, like its KubeConfig, brings the types of all of Kubernetes: 80 MiB of memory, and most of a second at the start.
import { ExecAuth } from "@kubernetes/client-node/dist/exec_auth.js";
import { FileAuth } from "@kubernetes/client-node/dist/file_auth.js";

/** Puts a token, or a client certificate, into the options of a request. Rejects with the reason. */
export type Authenticate = (
  options: RequestOptions & { headers: NonNullable<RequestOptions["headers"]> },
) => Promise<void>;

/** All kinds of authentication of client-node, each loaded only if a user has it. Credentials of plugins and files are cached for a while. */
export const authenticatorOf = (cluster: Cluster, user: User): Authenticate => {
  const own = [new ExecAuth(), new FileAuth()].find((one) => one.isAuthProvider(user));
  if (own !== undefined) return async (options) => own.applyAuthentication(user, options);
  if (!user.authProvider) return () => Promise.resolve();
  const loaded = import("@kubernetes/client-node").then(({ KubeConfig }) => {
    const config = new KubeConfig();
    config.loadFromClusterAndUser(cluster, user);
    return config;
  });
  // The first request reports the error.
  loaded.catch(() => undefined);
  return async (options) => (await loaded).applyToHTTPSOptions(options);
};
