import { type Api, type ApiError, eachPage, type Impersonation, listable, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Owned } from "../core/index.ts";

/** Lists that go out side by side. */
const SIDE_BY_SIDE = 8;

/** Whether the answer says something of this kind alone: it may not be listed, or its own server is broken, or no good. */
const isOfKind = (error: ApiError): boolean =>
  error.kind === "refused" ? error.code !== 429 : error.cause === "malformed";

const ownedIn = async (
  api: Api,
  resource: Resource,
  namespace: string | undefined,
  as: Impersonation,
): Promise<E.Either<ApiError, readonly Owned[]>> => {
  const found: Owned[] = [];
  const to = { resource, ...(namespace === undefined ? {} : { namespace }), as, metadataOnly: true } as const;
  const listed = await eachPage(api, { ...to, purpose: "find-owned" }, (items) => {
    for (const { metadata } of items) {
      const { name = "", uid = "", namespace, ownerReferences = [] } = metadata;
      const owners = ownerReferences.map(({ uid }) => uid);
      const within = namespace === undefined ? {} : { namespace };
      if (owners.length > 0) found.push({ kind: resource.kind, ...within, name, uid, owners });
    }
  });
  return E.isLeft(listed) && !isOfKind(listed.left) ? listed : E.right(found);
};

/**
 * All objects that name owners, in a namespace or everywhere, that this user may list.
 *
 * Guarantees: only their metadata is read, and page by page; a kind that may not be listed, or whose server is broken, is left
 *             out. Events are not looked at: there are many, and nothing owns them.
 */
export const findOwned = async (
  api: Api,
  namespace: string | undefined,
  as: Impersonation,
): Promise<E.Either<ApiError, readonly Owned[]>> => {
  const kinds = await listable(api);
  if (E.isLeft(kinds)) return kinds;
  const left = kinds.right
    .filter(({ namespaced, kind }) => (namespace === undefined || namespaced) && kind !== "Event")
    .values();
  const found: Owned[] = [];
  const lane = async (): Promise<ApiError | undefined> => {
    for (const resource of left) {
      const owned = await ownedIn(api, resource, namespace, as);
      if (E.isLeft(owned)) return owned.left;
      found.push(...owned.right);
    }
    return undefined;
  };
  const failed = (await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane))).find((error) => error !== undefined);
  return failed === undefined ? E.right(found) : E.left(failed);
};
