// Handles requests whose kind is not served, or served elsewhere.
import type { ApiCall } from "./effect.ts";
import { isUnserved, classify, type ErrorClass, type ApiError, type Resource } from "@janus/types";
import type { Observations } from "./observations.ts";

const isSame = (a: Resource, b: Resource | null): boolean =>
  a.group === b?.group && a.version === b.version && a.plural === b.plural;

/** Whether the API server serves the kind, as far as is known; if not, an earlier change is to create it. */
export const isServed = ({ resources }: Observations, resource: Resource): boolean =>
  [...resources.values()].some((served) => isSame(resource, served));

/** The class of an error for this request. */
export const meaningFor = ({ mayBeUnserved }: ApiCall, fault: ApiError): ErrorClass =>
  mayBeUnserved === true && isUnserved(fault) ? "conflict" : classify(fault);

/**
 * Forgets where kinds are served after a request that failed: if its kind may be served elsewhere now, or no longer, it is
 * discovered again; so is a kind that was not served before.
 */
export const rediscovered = (known: Observations, { call }: ApiCall, fault: ApiError): Observations => {
  if (fault.type !== "refused" || fault.code !== 404) return known;
  const resources = [...known.resources].filter(
    ([, served]) => served !== null && !isSame(call.place.resource, served),
  );
  return { ...known, resources: new Map(resources) };
};
