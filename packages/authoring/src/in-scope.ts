// Leaves the namespace out of targets whose kind is cluster-scoped.
import type { ChangeManifest } from "./manifest.ts";
import { resourceOf } from "./resource.ts";

/**
 * Leaves the namespace out of targets whose kind is in none, as the API server does with a manifest: tools give every
 * object of a release the same namespace.
 */
export const inScope = (changes: readonly ChangeManifest[]): readonly ChangeManifest[] =>
  changes.map((change) => {
    const { namespace, ...target } = change.target;
    return namespace === undefined || resourceOf(target, changes).namespaced ? change : { ...change, target };
  });
