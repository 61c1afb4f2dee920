// Lists objects page by page.
import * as E from "fp-ts/lib/Either.js";
import type { Api, List } from "../api/api.ts";
import type { ApiError, KubeObject, Resource } from "@janus/types";
import { unanswered } from "../http/http-exchange.ts";
import { FIRST_LIMIT, limitAfter, limitInstead, pageRequest } from "./page-size.ts";

export interface Page {
  readonly items: readonly KubeObject[];
  /** Where a watch can start. Some servers send none (componentstatuses, many aggregated APIs): then it is empty. */
  readonly resourceVersion: string;
  /** Names the next page; empty after the last. */
  readonly next: string;
}

/**
 * The content of a list response. The server leaves apiVersion and kind out of the items of built-in kinds; they are added.
 * Errors: `malformed` for anything other than a list: it must not pass for an empty one.
 */
export const pageOf = (resource: Resource, list: KubeObject): E.Either<ApiError, Page> => {
  const { items, metadata } = list;
  const { resourceVersion = "" } = metadata;
  if (!(items === null || Array.isArray(items)))
    return E.left(unanswered("malformed", `the answer to a list of ${resource.plural} is no list, but a ${list.kind}`));
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  const next: unknown = Reflect.get(metadata, "continue");
  return E.right({
    items: (items ?? []).map((item: Pick<KubeObject, "metadata">) => ({ apiVersion, kind: resource.kind, ...item })),
    resourceVersion,
    next: typeof next === "string" ? next : "",
  });
};

/** As {@link pageOf}, for a watch that starts there. Errors: `malformed` also if there is no resourceVersion. */
export const watchable: typeof pageOf = (resource, list) =>
  E.filterOrElse(
    ({ resourceVersion }: Page) => resourceVersion !== "",
    (): ApiError => unanswered("malformed", `the answer to a list of ${resource.plural} has no resourceVersion`),
  )(pageOf(resource, list));

/**
 * Calls back with all objects, page by page: at most one page is in memory, of a few MiB whatever is stored.
 *
 * @returns the resourceVersion, which is that of all objects; or the error, perhaps after some pages.
 */
export const eachPage = async (
  api: Api,
  request: Omit<List, "verb" | "continue" | "limit">,
  see: (items: Page["items"]) => void,
): Promise<E.Either<ApiError, string>> => {
  let limit = FIRST_LIMIT;
  let from: Pick<List, "continue"> = {};
  for (;;) {
    const reply = await api.send({ ...request, ...pageRequest(limit), ...from, verb: "list" });
    const read = E.chain((list: KubeObject) => pageOf(request.resource, list))(reply);
    if (E.isLeft(read)) {
      const instead = limitInstead(limit, read.left);
      if (instead === undefined) return read;
      limit = instead;
      continue;
    }
    const { items, next, resourceVersion } = read.right;
    see(items);
    if (next === "") return E.right(resourceVersion);
    from = { continue: next };
    limit = limitAfter(limit, items);
  }
};

/**
 * All objects, read in pages.
 *
 * Guarantees: all are of one resourceVersion, or of none; if that expires between two pages (410), everything is read once more
 * from the start.
 */
export const listAll = async (
  api: Api,
  request: Omit<List, "verb" | "continue" | "limit">,
): Promise<E.Either<ApiError, Omit<Page, "next">>> => {
  const first = await allPages(api, request);
  return E.isLeft(first) && first.left.type === "refused" && first.left.code === 410 ? allPages(api, request) : first;
};

const allPages: typeof listAll = async (api, request) => {
  const items: KubeObject[] = [];
  const listed = await eachPage(api, request, (page) => void items.push(...page));
  return E.map((resourceVersion: string) => ({ items, resourceVersion }))(listed);
};
