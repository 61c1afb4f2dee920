// Keeps what is known of the resources that the API server serves, while some of its groups cannot be asked.

/** A resource that can be listed and watched. */
export interface ServedResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The versions that serve it so, the one that the server prefers first. */
  readonly versions: readonly string[];
}

/** What a group serves, or that it could not be asked. */
export type GroupAnswer = readonly ServedResource[] | "failed";

export const resourceKey = ({ group, plural }: Pick<ServedResource, "group" | "plural">): string =>
  `${plural}.${group}`;

export interface Discovered {
  readonly served: readonly ServedResource[];
  /** Served before, and now certainly not. */
  readonly gone: readonly ServedResource[];
}

/**
 * What is served, after an answer for all groups.
 *
 * Guarantees: of a group that failed, all that was known stays known; a resource is gone only if its group answered without it, or
 *             if the API server does not list the group at all.
 */
export const discovered = (before: readonly ServedResource[], groups: ReadonlyMap<string, GroupAnswer>): Discovered => {
  const served = [...groups].flatMap(([group, answer]) =>
    answer === "failed" ? before.filter((one) => one.group === group) : answer,
  );
  const keys = new Set(served.map(resourceKey));
  return { served, gone: before.filter((one) => !keys.has(resourceKey(one))) };
};
