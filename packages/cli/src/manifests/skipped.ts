// Resolves the kinds in the names of --skip-wait-for as kubectl calls them, such as svc/web.
import { namedKind } from "../cluster/named-object.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { isNamed } from "./compose.ts";
import type { Located } from "./read-manifests.ts";

/**
 * The names as `KIND/NAME`, with the kinds that the API server has for them. What is written so is left as it is, and so is what the
 * API server does not know: a manifest may be of a kind that comes with another.
 *
 * Errors: if it cannot be found out which kinds there are.
 */
export const withKinds = (
  cluster: Cluster,
  all: readonly Located[],
  names: readonly string[],
): Promise<readonly string[]> =>
  Promise.all(
    names.map(async (written) => {
      if (all.some(({ manifest }) => isNamed(manifest, written))) return written;
      const [kind = "", name, ...more] = written.split("/");
      if (name === undefined || more.length > 0) return written;
      const resource = await namedKind(cluster, kind);
      return resource === undefined ? written : `${resource.kind}/${name}`;
    }),
  );
