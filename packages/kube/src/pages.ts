import * as E from "fp-ts/lib/Either.js";
import type { Api, List, Resource } from "./api.ts";
import type { ApiError } from "./error.ts";
import type { KubeObject } from "./object.ts";
import { isObject } from "./text.ts";

export interface Page {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Names the next page; empty after the last. */
  readonly next: string;
}

/** What a list reply holds. The server leaves apiVersion and kind out of the items of built-in kinds; they are put back. */
export const pageOf = (resource: Resource, list: KubeObject): Page => {
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  const items = Array.isArray(list["items"]) ? list["items"].filter(isObject) : [];
  return {
    items: items.map((item) => ({ apiVersion, kind: resource.kind, ...item }) as unknown as KubeObject),
    resourceVersion: list.metadata?.resourceVersion ?? "",
    next: textOf(list.metadata, "continue"),
  };
};

const textOf = (of: object, field: string): string => {
  const value: unknown = Reflect.get(of, field);
  return typeof value === "string" ? value : "";
};

/**
 * All objects, in pages of 500.
 *
 * Guarantees: all are of one resourceVersion; when the server forgets it between two pages (410), everything is read once
 * more from the start.
 */
export const listAll = async (
  api: Api,
  request: Omit<List, "verb" | "continue">,
): Promise<E.Either<ApiError, Omit<Page, "next">>> => {
  const first = await allPages(api, request);
  return E.isLeft(first) && first.left.kind === "refused" && first.left.code === 410 ? allPages(api, request) : first;
};

const allPages: typeof listAll = async (api, request) => {
  const items: KubeObject[] = [];
  let page: Page = { items, resourceVersion: "", next: "" };
  do {
    const from = page.next === "" ? {} : { continue: page.next };
    const reply = await api.send({ limit: 500, ...request, ...from, verb: "list" });
    if (E.isLeft(reply)) return reply;
    page = pageOf(request.resource, reply.right);
    items.push(...page.items);
  } while (page.next !== "");
  return E.right({ items, resourceVersion: page.resourceVersion });
};
