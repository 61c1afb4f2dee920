// Chooses the number of objects in the next page by the size of the last one.
import { type ApiError, type KubeObject, sizeOf } from "@janus/types";

/** The size that a page should have, in bytes … */
const AIM = 2 ** 20;
/** … and its maximum: a larger one is aborted, and requested again with fewer objects. */
export const MOST_OF_A_PAGE = 4 * 2 ** 20;
/** The most objects, however small they are. */
const MOST = 500;
/** The first limit, while the size of the objects is unknown. */
export const FIRST_LIMIT = 16;

/** The limit of the next page. It grows slowly, because the next objects may be larger. */
export const limitAfter = (limit: number, items: readonly KubeObject[]): number => {
  if (items.length === 0) return limit;
  const fit = Math.floor((AIM * items.length) / sizeOf(items));
  return Math.max(1, Math.min(fit, 4 * limit, MOST));
};

/** The limit to retry with after a page that was too large; undefined if that would not help. */
export const limitInstead = (limit: number, error: ApiError): number | undefined =>
  error.type === "unanswered" && error.cause === "too-large" && limit > 1 ? Math.ceil(limit / 4) : undefined;

/** A page of one object may be as large as any response. */
export const pageRequest = (limit: number): { readonly limit: number; readonly mostBytes?: number } => ({
  limit,
  ...(limit > 1 ? { mostBytes: MOST_OF_A_PAGE } : {}),
});
