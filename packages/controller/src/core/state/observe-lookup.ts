// Folds what lookups have found into the observations: where kinds are served, and lists of objects.
import type { Instant } from "@janus/types";
import type { Discover, FindOwned, Found } from "./effect.ts";
import type { KindFault } from "./fold.ts";
import type { Faults } from "./folding.ts";
import type { Discovered } from "./happened.ts";
import { type Observations, rollbackIn, set, withRollback } from "./observations.ts";
import { stillUnanswered } from "./target-observations.ts";

/** Any answer of discovery ends an outage of it. */
export const observeKind = (
  known: Observations,
  { apiVersion, kind, isMistake }: Discover,
  { resource, others }: Discovered,
): Observations => {
  const key = `${apiVersion}/${kind}`;
  const resources = set(known.resources, key, resource ?? null);
  const answered: Observations = { ...known, resources, undiscovered: undefined };
  return others === undefined || isMistake !== true
    ? answered
    : { ...answered, servedIn: set(known.servedIn ?? new Map(), key, others) };
};

/** Kinds that are not listed again stay unlisted. */
const withDependents = (known: Observations, scope: string, only: FindOwned["only"], found: Found, at: Instant) => {
  const { since = at, unlisted = [] } = known.listings.get(scope) ?? {};
  const left = [...unlisted.filter(({ resource }) => only?.includes(resource) === false), ...found.unlisted];
  return {
    ...known,
    owned: set(known.owned, scope, [...(known.owned.get(scope) ?? []), ...found.owned]),
    listings: set(known.listings, scope, { since, readAt: at, unlisted: left }),
  };
};

export const observeList = (
  known: Observations,
  { finds, namespace = "", only }: FindOwned,
  found: Found,
  readAt: Instant,
): Observations => {
  switch (finds.type) {
    case "dependents":
      return withDependents(known, namespace, only, found, readAt);
    case "adoptable": {
      const { scope } = finds;
      const since = known.adoptable?.scope === scope ? known.adoptable.since : readAt;
      return { ...known, adoptable: { ...found, scope, since, readAt } };
    }
    case "contents": {
      const { since = readAt } = rollbackIn(known, finds.index).contents ?? {};
      return withRollback(known, finds.index, { contents: { ...found, since, readAt } });
    }
  }
};

export const kindFaults: Faults<KindFault> = {
  "kind-undiscovered": (known, _, { error, at }) => ({
    ...known,
    undiscovered: stillUnanswered(known.undiscovered, error, at),
  }),
};
