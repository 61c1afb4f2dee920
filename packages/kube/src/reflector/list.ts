import * as E from "fp-ts/lib/Either.js";
import type { Api, List } from "../api/api.ts";
import type { ApiError, KubeObject, Resource } from "@janus/types";
import { unanswered } from "../http/http-exchange.ts";
import { FIRST, limitAfter, limitInstead, pageRequest } from "./page-size.ts";

export interface Page {
  readonly items: readonly KubeObject[];
  /** Of which a watch can go on. Some servers give none (componentstatuses, many of aggregated APIs): then it is empty. */
  readonly resourceVersion: string;
  /** Names the next page; empty after the last. */
  readonly next: string;
}

/**
 * What a list reply holds. The server leaves apiVersion and kind out of the items of built-in kinds; they are rolled back.
 * Errors: `malformed` for anything else than a list: it must not pass for one that is empty.
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

/** As {@link pageOf}, where a watch is to go on from it. Errors: `malformed`, too, where it has no resourceVersion. */
export const watchable: typeof pageOf = (resource, list) =>
  E.filterOrElse(
    ({ resourceVersion }: Page) => resourceVersion !== "",
    (): ApiError => unanswered("malformed", `the answer to a list of ${resource.plural} has no resourceVersion`),
  )(pageOf(resource, list));

/**
 * Shows all objects, page by page, to whoever looks at them: no more than one page is in memory for it, of few MiB whatever is stored.
 *
 * @returns the resourceVersion, which is that of all objects; or what ended it, after some pages were seen already.
 */
export const eachPage = async (
  api: Api,
  request: Omit<List, "verb" | "continue" | "limit">,
  see: (items: Page["items"]) => void,
): Promise<E.Either<ApiError, string>> => {
  let limit = FIRST;
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
 * Guarantees: all are of one resourceVersion, or of none; when the server forgets it between two pages (410), everything is read once
 * more from the start.
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
