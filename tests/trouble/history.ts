// The history of objects: every version that was written, in order.
import type { Api, KubeObject, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { must } from "../crash/world.ts";

/** One version of an object. */
export interface Version {
  /** Its resourceVersion: all that one API server writes is in this order. https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions */
  readonly at: number;
  readonly isGone: boolean;
  readonly object: KubeObject;
}

export interface History {
  /** Every version so far, of all that is watched, in order. */
  readonly versions: () => readonly Version[];
  readonly end: () => void;
}

/** Watches these kinds in these namespaces, and misses nothing from now on. */
export const watchHistory = async (
  api: Api,
  kinds: readonly { readonly resource: Resource; readonly namespace: string }[],
): Promise<History> => {
  const ended = new AbortController();
  const versions: Version[] = [];
  const follow = async (kind: (typeof kinds)[number], resourceVersion: string): Promise<void> => {
    const request = { ...kind, verb: "watch", resourceVersion, timeoutSeconds: 3600 } as const;
    for await (const event of api.watch(request, ended.signal)) {
      if (E.isLeft(event)) throw new Error(`the history has a gap: ${event.left.message}`);
      if (event.right.type === "BOOKMARK") continue;
      const { type, object } = event.right;
      versions.push({ at: Number(object.metadata.resourceVersion), isGone: type === "DELETED", object });
    }
  };
  for (const kind of kinds) {
    const { metadata } = must(await api.send({ verb: "list", ...kind }));
    void follow(kind, metadata.resourceVersion ?? "");
  }
  return { versions: () => versions.toSorted((a, b) => a.at - b.at), end: () => ended.abort() };
};
