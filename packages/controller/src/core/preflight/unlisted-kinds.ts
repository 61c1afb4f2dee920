import { cut } from "@janus/api";
import type { Instant } from "../kubernetes/time.ts";
import type { Observations } from "../state/observations.ts";
import { POLL_INTERVAL } from "../state/reconcile-context.ts";
import type { Listing } from "../state/listings.ts";

/**
 * How long kinds whose server does not answer are listed again, in ms: a permanently broken one must not block
 * all deletions.
 */
const LISTING_TIME = 30_000;
const PAUSE = 3 * POLL_INTERVAL;

/** The kinds to list again, and when. */
const due = ({ since, readAt, unlisted }: Listing): { readonly at: Instant; readonly only: readonly string[] } => ({
  at: readAt + PAUSE,
  only:
    readAt < since + LISTING_TIME ? unlisted.flatMap(({ resource, mayComeYet }) => (mayComeYet ? [resource] : [])) : [],
});

/** The kinds to list again now. */
export const dueAgain = (listing: Listing, now: Instant): readonly string[] => {
  const { at, only } = due(listing);
  return at <= now ? only : [];
};

/** When to list again; undefined if no retry would help. */
export const nextListing = (listing: Listing): Instant | undefined => {
  const { at, only } = due(listing);
  return only.length === 0 ? undefined : at;
};

/** What is listed again, and when. */
export const listingPause = ({
  listings,
}: Observations): { readonly until: Instant; readonly because: string } | undefined => {
  const pending = [...listings.values()].map(due).filter(({ only }) => only.length > 0);
  if (pending.length === 0) return undefined;
  const names = pending.flatMap(({ only }) => only);
  return {
    until: Math.min(...pending.map(({ at }) => at)),
    because: cut(`trying again to list the dependents of the deleted objects: ${names.join(", ")}`, 1024),
  };
};

const MOST_NAMED = 5;

/** Reported before the first change. */
export const unlistedWarnings = ({ listings }: Observations): readonly string[] => {
  const all = [...listings.values()].flatMap(({ unlisted }) => unlisted);
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_NAMED).map(({ resource, why }) => `${resource} (${cut(why, 120)})`);
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : "";
  return [
    `these kinds could not be listed, or not as a whole, so it is unknown which of their objects are deleted together with the targets; a rollback does not restore these: ${named.join(", ")}${more}`,
  ];
};
