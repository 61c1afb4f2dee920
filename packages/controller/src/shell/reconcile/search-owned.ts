// Lists the objects of all kinds that have owners, within limits.
import { type Api, type ApiError, eachPage, type Impersonation, listable, type Resource } from "@janus/kube";
import { asObject, classify, deniedVerb, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { inLanes } from "@janus/runtime/parts";
import {
  type FindOwned,
  type Found,
  hasOwner,
  isOfCluster,
  type Owned,
  ownedObject,
  accessReview,
  type Unlisted,
} from "../../core/index.ts";
import { LISTS } from "../limits.ts";

/** The most objects of a kind: more than one Transaction can have created. */
const MOST_UNOWNED = 1000;

/**
 * The most objects and references to owners that are kept of one search: many may run at the same time. The others are counted;
 * but so many are kept of each kind, however many there are of others.
 */
const MOST_OWNED = { ofAll: 10_000, ofKind: 250 };

/** The kind is served no more. A 404 without `notFound` may be of a proxy, and says nothing of the kind. */
const holdsNothing = (error: ApiError): boolean =>
  error.type === "refused" && error.code === 404 && error.notFound !== undefined;

/** The continue token has expired between two pages. */
const EXPIRED = 410;

/** The word of a proxy, or of an API server that does not know its roles yet. */
const isInconclusive = (error: ApiError): boolean =>
  error.type === "refused" &&
  (error.code === 403 || error.code === EXPIRED || (error.code === 405 && error.reason === ""));

/** Whether the error concerns this kind alone, such as a broken aggregated API; any other concerns the API server as a whole. */
const isOfKind = (error: ApiError): boolean =>
  error.type === "refused"
    ? error.code !== 429 && error.code !== 401
    : ["malformed", "too-large", "deadline"].includes(error.cause);

/** A new kind is served a moment after its CRD was established. */
const unserved = (resource: string): Unlisted => ({
  resource,
  why: "the API server does not serve it",
  mayComeYet: true,
});

/** The groups in which the API server keeps Events; a kind of that name in another group is a custom resource. */
const EVENT_GROUPS: readonly string[] = ["", "events.k8s.io"];

const isEvent = ({ group, kind }: Resource): boolean => kind === "Event" && EVENT_GROUPS.includes(group);

/** The name that kubectl accepts. */
const nameOf = ({ plural, group }: Resource): string => (group === "" ? plural : `${plural}.${group}`);

const unlisted = (resource: Resource, error: ApiError): Unlisted => ({
  resource: nameOf(resource),
  why: messageOf(error),
  mayComeYet: classify(error) === "transient" || isInconclusive(error),
});

/** Some of its objects have owners, and were not kept. */
const unexamined = (resource: Resource, count: number): Unlisted => ({
  resource: nameOf(resource),
  why: `${count} of its objects with owners were not examined: there are too many`,
  mayComeYet: false,
  isPartial: true,
});

/**
 * Resolves what a 403 to a list means. If an access review says that the user may list the kind after all, or that it could not
 * be found out, it is listed again.
 */
const denied = async (
  api: Api,
  resource: Resource,
  namespace: string | undefined,
  as: Impersonation,
  error: ApiError,
): Promise<E.Either<ApiError, Unlisted>> => {
  const { verb, place, body } = accessReview({ resource, ...(namespace === undefined ? {} : { namespace }) }, "list");
  const asked = { verb, resource: place.resource, body, as, purpose: "review" } as const;
  const answer = await api.send(asked);
  if (E.isLeft(answer)) return isOfKind(answer.left) ? E.right(unlisted(resource, error)) : answer;
  const { allowed, evaluationError = "" } = asObject(answer.right["status"]);
  if (allowed !== false) return E.right(unlisted(resource, error));
  return E.right({ ...unlisted(resource, error), isDenied: true, mayComeYet: evaluationError !== "" });
};

interface Search {
  readonly namespace: string | undefined;
  readonly unowned: boolean;
  /** Cluster-scoped kinds; see `ownedObject`. */
  readonly clusterKinds: ReadonlySet<string>;
  /** How many more are kept. */
  room: number;
}

const ownedIn = async (
  api: Api,
  resource: Resource,
  search: Search,
  as: Impersonation,
): Promise<E.Either<ApiError, Found>> => {
  const { namespace, unowned, clusterKinds } = search;
  const owned: Owned[] = [];
  let [free, kept, left] = [0, 0, 0];
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  const to = { resource, ...(namespace === undefined ? {} : { namespace }), as, metadataOnly: true } as const;
  const listed = await eachPage(api, { ...to, purpose: "find-owned" }, (items) => {
    for (const { metadata } of items) {
      const object = { apiVersion, kind: resource.kind, metadata };
      const one = ownedObject(object, clusterKinds);
      const goes = hasOwner(one);
      if (!goes && (!unowned || free >= MOST_UNOWNED || isOfCluster(object))) continue;
      const takes = 1 + one.owners.length;
      if (goes && search.room < takes && kept + takes > MOST_OWNED.ofKind) left += 1;
      else {
        if (!goes) free += 1;
        if (goes) [kept, search.room] = [kept + takes, search.room - takes];
        owned.push(one);
      }
    }
  });
  if (E.isRight(listed)) return E.right({ owned, unlisted: left === 0 ? [] : [unexamined(resource, left)] });
  const error = listed.left;
  if (holdsNothing(error)) return E.right({ owned, unlisted: [] });
  if (deniedVerb(error) === "list")
    return E.map((one: Unlisted): Found => ({ owned: [], unlisted: [one] }))(
      await denied(api, resource, namespace, as, error),
    );
  return isOfKind(error) ? E.right({ owned: [], unlisted: [unlisted(resource, error)] }) : listed;
};

/**
 * All objects that are deleted together with others, in a namespace or everywhere, that this user may list; with `unowned`,
 * also all others, except for those that the cluster itself creates: up to a thousand of a kind, which is more than one
 * Transaction can have created.
 *
 * Guarantees: only metadata is read, page by page; a kind that could not be listed is reported, as is a requested kind that is
 *             not served; that the user may not list it is said only if an access review says so, too. Events are not listed:
 *             there are many, and they have no owners. A bounded number of objects is kept; a kind of which others were not is
 *             reported, with their number.
 */
export const searchOwned = async (
  api: Api,
  { namespace, only, unowned }: Pick<FindOwned, "namespace" | "only" | "unowned">,
  as: Impersonation,
): Promise<E.Either<ApiError, Found>> => {
  const kinds = await listable(api);
  if (E.isLeft(kinds)) return kinds;
  const all = kinds.right.map(nameOf);
  const cluster = kinds.right.filter(({ namespaced }) => !namespaced).map(({ group, kind }) => `${group} ${kind}`);
  const left = kinds.right
    .filter((resource) => (namespace === undefined || resource.namespaced) && !isEvent(resource))
    .filter((resource) => only === undefined || only.includes(nameOf(resource)))
    .entries();
  /** Results in the order of the kinds, whichever is answered first: messages name the first ones. */
  const found: Found[] = [];
  const search: Search = {
    namespace,
    unowned: unowned === true,
    clusterKinds: new Set(cluster),
    room: MOST_OWNED.ofAll,
  };
  const failures: ApiError[] = [];
  await inLanes(left, LISTS, async ([at, resource]) => {
    const listed = await ownedIn(api, resource, search, as);
    if (E.isLeft(listed)) failures.push(listed.left);
    else found[at] = listed.right;
    return E.isRight(listed);
  });
  const [failed] = failures;
  if (failed !== undefined) return E.left(failed);
  const unknown = (only ?? []).filter((name) => !all.includes(name)).map(unserved);
  return E.right({
    owned: found.flatMap(({ owned }) => owned),
    unlisted: [...unknown, ...found.flatMap(({ unlisted }) => unlisted)],
  });
};
