// Reads which resources the API server serves, and keeps what is known of them while some of its groups cannot be asked.
import { asObject, isObject, type JsonObject } from "@janus/types";

/** A resource that can be listed and watched. */
export interface ServedResource {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The versions in which it is served, the one that the server prefers first. */
  readonly versions: readonly string[];
}

/** The resources of a group, or `failed` if it could not be asked. */
export type GroupAnswer = readonly ServedResource[] | "failed";

export const resourceKey = ({ group, plural }: Pick<ServedResource, "group" | "plural">): string =>
  `${plural}.${group}`;

const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const isWatchable = ({ verbs }: JsonObject): boolean =>
  Array.isArray(verbs) && ["list", "watch"].every((verb) => verbs.includes(verb));

const resourcesOf = (group: string, versions: readonly JsonObject[]): readonly ServedResource[] => {
  const resources = new Map<string, ServedResource>();
  for (const { version, resources: served } of versions)
    for (const one of objects(served).filter(isWatchable)) {
      const plural = text(one["resource"]);
      const namespaced = one["scope"] === "Namespaced";
      const known = resources.get(plural) ?? {
        group,
        plural,
        kind: text(asObject(one["responseKind"])["kind"]),
        namespaced,
        versions: [],
      };
      if (known.namespaced === namespaced)
        resources.set(plural, { ...known, versions: [...known.versions, text(version)] });
    }
  return [...resources.values()];
};

/**
 * The groups of the answers to `/api` and `/apis`, in the aggregated form. One whose own server could not be asked is `failed`: the
 * API server calls what it has of it stale.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#aggregated-discovery
 */
export const groupsOf = (lists: readonly JsonObject[]): ReadonlyMap<string, GroupAnswer> =>
  new Map(
    lists
      .flatMap(({ items }) => objects(items))
      .map(({ metadata, versions }) => {
        const group = text(asObject(metadata)["name"]);
        const all = objects(versions);
        return [group, all.some(({ freshness }) => freshness === "Stale") ? "failed" : resourcesOf(group, all)];
      }),
  );

/**
 * Returns what is served, after an answer for all groups.
 *
 * Guarantees: resources of a group that failed stay as they were known.
 */
export const discovered = (
  before: readonly ServedResource[],
  groups: ReadonlyMap<string, GroupAnswer>,
): readonly ServedResource[] =>
  [...groups].flatMap(([group, answer]) =>
    answer === "failed" ? before.filter((one) => one.group === group) : answer,
  );

/** The resources and groups that are installed, by the objects that install them. */
export interface Installed {
  /** The names of the CustomResourceDefinitions. */
  readonly definitions: ReadonlySet<string>;
  /** The groups of the APIServices. */
  readonly groups: ReadonlySet<string>;
}

/**
 * Tells which resources, by their keys, are certainly not served; without an answer of the server none is.
 *
 * Guarantees: only if its group answered without it, or is not there at all; and never while there is its definition, or an APIService
 *             of a group that the server does not list: one that starts knows its own groups later than it answers.
 */
export const certainlyGone = (
  groups: ReadonlyMap<string, GroupAnswer> | undefined,
  installed: Installed | undefined,
): Pick<ReadonlySet<string>, "has"> => {
  const served = new Set(
    [...(groups?.values() ?? [])].flatMap((one) => (one === "failed" ? [] : one.map(resourceKey))),
  );
  return {
    has: (key) => {
      const group = key.slice(key.indexOf(".") + 1);
      if (groups === undefined || installed === undefined || groups.get(group) === "failed") return false;
      return !served.has(key) && !installed.definitions.has(key) && (groups.has(group) || !installed.groups.has(group));
    },
  };
};
