// Drops the namespace of manifests whose kind is cluster-scoped, by discovery.
import type { Discovery } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Located } from "./read-manifests.ts";

/**
 * The manifests, those of cluster-scoped kinds without a namespace, which kubectl ignores there, too: charts often
 * write one. Kinds that are not served are left as they are.
 */
export const withoutIdleNamespaces = (discovery: Discovery, all: readonly Located[]): Promise<readonly Located[]> =>
  Promise.all(
    all.map(async (located) => {
      const { manifest } = located;
      const { namespace, ...metadata } = manifest.metadata;
      if (namespace === undefined) return located;
      const resource = await discovery.resource(manifest.apiVersion, manifest.kind);
      if (E.isLeft(resource) || resource.right.namespaced) return located;
      return { ...located, manifest: { ...manifest, metadata } };
    }),
  );
