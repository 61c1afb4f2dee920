// Retries the list of kinds whose server does not answer, for a limited time.
import { cut } from "@janus/api";
import type { Instant } from "@janus/types";
import type { Observations } from "../state/observations.ts";
import type { Listing, Unlisted } from "../state/listings.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

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

/** The time when kinds are listed again, and which ones. */
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

const named = (names: readonly string[]): string =>
  `${names.slice(0, MOST_NAMED).join(", ")}${names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ""}`;

/** The kinds that the ServiceAccount may not list, by name. */
export const deniedKinds = (unlisted: readonly Unlisted[]): string | undefined => {
  const denied = unlisted.filter(({ isDenied }) => isDenied).map(({ resource }) => resource);
  return denied.length === 0 ? undefined : named([...new Set(denied)]);
};

/** The kinds that could not be listed, although the ServiceAccount may. */
export const failedListings = (unlisted: readonly Unlisted[]): readonly Unlisted[] =>
  unlisted.filter(({ isDenied }) => !isDenied);

const allUnlisted = ({ listings }: Observations): readonly Unlisted[] =>
  [...listings.values()].flatMap(({ unlisted }) => unlisted);

/** Reported before the first change. */
export const unlistedWarnings = (known: Observations): readonly string[] => {
  const failed = failedListings(allUnlisted(known));
  return failed.length === 0
    ? []
    : [
        `these kinds could not be listed, or not as a whole, so it is unknown which of their objects are deleted together with the targets; a rollback does not restore these: ${named(failed.map(({ resource, why }) => `${resource} (${cut(why, 120)})`))}`,
      ];
};

/** Said before the first change. A ServiceAccount needs no permission to list anything. */
export const deniedNotice = (known: Observations): readonly string[] => {
  const denied = deniedKinds(allUnlisted(known));
  return denied === undefined
    ? []
    : [
        `it is unknown which objects are deleted together with the targets of kinds that the ServiceAccount may not list: ${denied}`,
      ];
};
