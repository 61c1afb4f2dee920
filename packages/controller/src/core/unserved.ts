import type { Ask } from "./effect.ts";
import { type Fault, isUnserved, meaning, type Meaning } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { Known } from "./known.ts";
import type { Resource } from "./object.ts";

const isSame = (a: Resource, b: Resource | null): boolean =>
  a.group === b?.group && a.version === b.version && a.plural === b.plural;

/** Whether the API server serves the kind, as far as is known; if not, an earlier change is to bring it. */
export const isServed = ({ resources }: Known, resource: Resource): boolean =>
  [...resources.values()].some((served) => isSame(resource, served));

/** What a fault means for this request. */
export const meaningFor = ({ mayBeUnserved }: Ask, fault: Fault): Meaning =>
  mayBeUnserved === true && isUnserved(fault) ? "conflict" : meaning(fault);

/**
 * What is known after a request that did not get through. Where its kind may be served elsewhere now, or no more, that is
 * asked anew; so is what was not served before.
 */
export const afterTrouble = (known: Known, { lost, call }: Ask, fault: Fault, now: Instant): Known => {
  const after = lost?.(known, fault, now) ?? known;
  if (fault.kind !== "refused" || fault.code !== 404) return after;
  const resources = [...after.resources].filter(
    ([, served]) => served !== null && !isSame(call.place.resource, served),
  );
  return { ...after, resources: new Map(resources) };
};
