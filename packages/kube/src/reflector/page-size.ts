import type { ApiError, KubeObject } from "@janus/types";
import { sizeOf } from "../api/object-size.ts";

/** What a page should hold, in bytes … */
const AIM = 2 ** 20;
/** … and what it may hold: with more it is given up, and asked for again as a smaller one. */
export const MOST_OF_A_PAGE = 4 * 2 ** 20;
/** Objects, however small they are. */
const MOST = 500;
/** It is not known yet how large they are. */
export const FIRST = 16;

/** How many objects the next page is to have, after one with so many. They may be larger than those before: it grows slowly. */
export const limitAfter = (limit: number, items: readonly KubeObject[]): number => {
  if (items.length === 0) return limit;
  const fit = Math.floor((AIM * items.length) / sizeOf(items));
  return Math.max(1, Math.min(fit, 4 * limit, MOST));
};

/** How many are to be asked for instead, where a page was too large; undefined where that would not help. */
export const limitInstead = (limit: number, error: ApiError): number | undefined =>
  error.type === "unanswered" && error.cause === "too-large" && limit > 1 ? Math.ceil(limit / 4) : undefined;

/** A page of one object may be as large as any answer. */
export const pageRequest = (limit: number): { readonly limit: number; readonly mostBytes?: number } => ({
  limit,
  ...(limit > 1 ? { mostBytes: MOST_OF_A_PAGE } : {}),
});
