// Small changes of the state of a branch, which several events make.
import type { Instant } from "@janus/types";
import type { BranchState, ListedResource } from "./branch-state.ts";

export const BEGUN: ListedResource["list"] = { is: "begun" };

export const compareFrom = (state: BranchState, since: Instant, isUrgent: boolean): BranchState["toCompare"] => ({
  since: Math.min(since, state.toCompare?.since ?? since),
  isUrgent: isUrgent || state.toCompare?.isUrgent === true,
  number: (state.toCompare?.number ?? 0) + 1,
});

export const mapped = <K, V>(map: ReadonlyMap<K, V>, key: K, change: (value: V) => V): ReadonlyMap<K, V> => {
  const value = map.get(key);
  return value === undefined ? map : new Map(map).set(key, change(value));
};

/** Changes one resource in all destinations that have selected it. */
export const inResource = (
  state: BranchState,
  resource: string,
  change: (listed: ListedResource, destination: string) => ListedResource,
): BranchState => ({
  ...state,
  destinations: new Map(
    [...state.destinations].map(([name, destination]) => [
      name,
      { ...destination, resources: mapped(destination.resources, resource, (listed) => change(listed, name)) },
    ]),
  ),
});
