import { cut } from "@janus/api";
import type { Instant } from "../kubernetes/time.ts";
import type { Observations } from "../state/observations.ts";
import { POLL_INTERVAL } from "../state/reconcile-context.ts";
import type { Listing } from "../state/listings.ts";

/** How long kinds are listed again whose server does not answer, in ms: one that is broken for good must not stop all deletions. */
const LISTING_TIME = 30_000;
const PAUSE = 3 * POLL_INTERVAL;

/** The kinds that are worth another try, and when. */
const due = ({ since, readAt, unlisted }: Listing): { readonly at: Instant; readonly only: readonly string[] } => ({
  at: readAt + PAUSE,
  only:
    readAt < since + LISTING_TIME ? unlisted.flatMap(({ resource, mayComeYet }) => (mayComeYet ? [resource] : [])) : [],
});

/** The kinds to be listed once more, where it is time for that. */
export const dueAgain = (listing: Listing, now: Instant): readonly string[] => {
  const { at, only } = due(listing);
  return at <= now ? only : [];
};

/** When it is to be listed once more what could not be; undefined where that is not worth it any more. */
export const nextListing = (listing: Listing): Instant | undefined => {
  const { at, only } = due(listing);
  return only.length === 0 ? undefined : at;
};

/** What is waited for before it is listed once more, and until when. */
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

/** Said before anything is touched. */
export const unlistedWarnings = ({ listings }: Observations): readonly string[] => {
  const all = [...listings.values()].flatMap(({ unlisted }) => unlisted);
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_NAMED).map(({ resource, why }) => `${resource} (${cut(why, 120)})`);
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : "";
  return [
    `these kinds could not be listed, so it is unknown what the deletions delete of them, and a rollback does not restore it: ${named.join(", ")}${more}`,
  ];
};
