// Folds what is wanted of a branch into its state.
import { equal, type Instant } from "@janus/types";
import { BEGUN, compareFrom } from "./branch-changes.ts";
import type { BranchState, DestinationState, ListedResource } from "./branch-state.ts";
import { resourceKey } from "./discovery.ts";
import type { JournaledBranch, JournaledDestination } from "./journaled-branch.ts";
import { largeMap } from "./large-map.ts";
import type { SelectionRule } from "./selection.ts";

const isSameRules = (a: readonly SelectionRule[], b: readonly SelectionRule[]): boolean =>
  a.length === b.length && a.every((rule, n) => rule === b[n]);

const withWanted = (
  former: DestinationState | undefined,
  wanted: JournaledDestination,
  { toCompare, hasSettled }: BranchState,
): DestinationState => {
  const resources = new Map(
    wanted.selected.map((resource): readonly [string, ListedResource] => {
      const key = resourceKey(resource);
      const known = former?.resources.get(key);
      return [
        key,
        known?.version === resource.version
          ? known
          : {
              version: resource.version,
              objects: largeMap(),
              spared: largeMap(),
              list: BEGUN,
              // Resources that are selected later have no authors: they were not written before.
              isResumed: hasSettled,
            },
      ];
    }),
  );
  if (former === undefined)
    return {
      wanted,
      formerRules: [],
      resources,
      dropped: new Set(),
      ownership: undefined,
      resumesFrom: undefined,
      pushed: { commits: 0, files: 0 },
    };
  const dropped = new Set([...former.dropped, ...former.resources.keys()].filter((key) => !resources.has(key)));
  if (isSameRules(former.wanted.rules, wanted.rules)) return { ...former, wanted, resources, dropped };
  const rules = former.wanted.rules.filter((rule) => !wanted.rules.includes(rule));
  return {
    ...former,
    wanted,
    resources,
    dropped,
    formerRules: [...(toCompare === undefined ? [] : former.formerRules), ...rules],
  };
};

const isSameDestination = (a: DestinationState | undefined, b: JournaledDestination): boolean =>
  a !== undefined &&
  a.wanted.destination.folder === b.destination.folder &&
  a.wanted.isBlocked === b.isBlocked &&
  equal(a.wanted.contest, b.contest) &&
  a.wanted.deletes === b.deletes &&
  a.wanted.destination.exclusiveMode === b.destination.exclusiveMode &&
  isSameRules(a.wanted.rules, b.rules) &&
  a.wanted.selected.length === b.selected.length &&
  a.wanted.selected.every(({ version }, n) => version === b.selected[n]?.version);

/** Whether a resource that was selected before is known only now to be gone, so that its files may go. */
const isGoneNow = ({ destinations, gone }: BranchState, now: BranchState["gone"]): boolean =>
  [...destinations.values()].some(({ dropped }) => [...dropped].some((key) => now.has(key) && !gone.has(key)));

export const wanted = (
  state: BranchState,
  branch: JournaledBranch,
  { gone, settings }: Pick<BranchState, "gone" | "settings">,
  now: Instant,
): BranchState => {
  const isSame =
    state.destinations.size === branch.destinations.length &&
    branch.destinations.every((one) => isSameDestination(state.destinations.get(one.destination.name), one));
  // The change may be of what git or the server has refused.
  const isTried = state.trouble === undefined || isSame;
  return {
    ...state,
    branch,
    gone,
    settings,
    destinations: new Map(
      branch.destinations.map((one) => [
        one.destination.name,
        withWanted(movedTo(state.destinations.get(one.destination.name), one), one, state),
      ]),
    ),
    ...(isSame && !isGoneNow(state, gone) ? {} : { toCompare: compareFrom(state, now, true) }),
    ...(isTried ? {} : { retryAt: now }),
  };
};

/** Returns the former state, unless the destination has another folder now: then nothing of it is true any more. */
const movedTo = (
  former: DestinationState | undefined,
  { destination }: JournaledDestination,
): DestinationState | undefined => (former?.wanted.destination.folder === destination.folder ? former : undefined);
