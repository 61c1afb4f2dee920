/**
 * Works out what is wanted in Git from the objects of the four kinds, and from what the API server serves.
 */
import { memoized } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { GitDestination } from "../api/git-destination.ts";
import type { GitRepoConfig } from "../api/git-repo-config.ts";
import type { ClusterWatchRule, WatchRule } from "../api/watch-rule.ts";
import { secretsOf } from "./age-keys.ts";
import type { BatchLimits } from "./batch.ts";
import {
  type Decoded,
  decodedObjects,
  type Failed,
  type Kind,
  KINDS,
  objectId,
  objectKey,
  type Objects,
  refused,
  rightOnes,
} from "./configured.ts";
import { type Known, resolveDestination, resolveRule } from "./destinations.ts";
import type { ServedResource } from "./discovery.ts";
import { placeOf, type Wanted } from "./journaled-branch.ts";
import { branchOf, credentialsOf, journaledBranches, keyOf, type Written } from "./journaled-branches.ts";
import type { Labels } from "./label-selector.ts";
import {
  configKey,
  type Located,
  located,
  referred,
  type Repository,
  repositoryOf,
  unlessWrong,
  unresolved,
} from "./located.ts";
import { type Claim, claimsOf } from "./ownership.ts";
import {
  rulesOfClusterWatchRule,
  rulesOfWatchRule,
  selectionFindings,
  type SelectionRule,
  type SelectionSettings,
} from "./selection.ts";

/** The known state of the cluster. */
export interface ClusterState {
  readonly objects: Objects;
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
  readonly served: readonly ServedResource[];
  readonly gone: Wanted["gone"];
  /** The namespaces whose objects of the four kinds are known; undefined: all. */
  readonly watched: readonly string[] | undefined;
}

export interface JournalSettings {
  readonly selection: SelectionSettings;
  readonly limits: BatchLimits;
}

/** A destination, and what is known of it without git. */
export interface Placed extends Located {
  /** The key of its GitRepoConfig. */
  readonly config: string;
  /** The failure of a destination that has the folder of another one. */
  readonly blocked: Failed | undefined;
  /** The reason why no rule writes to it, if none does. */
  readonly withoutRules: string | undefined;
  /** The reason why Secrets are not written, if they are not. */
  readonly withoutSecrets: Failed | undefined;
}

/** A rule, and where it writes. */
export interface Writing {
  /** The name of the destination. */
  readonly destination: string;
  /** Whether the destination is a GitDestination; else the rule names the repository directly. */
  readonly isThroughDestination: boolean;
  /** The resources that the rule names and does not get. */
  readonly findings: readonly string[];
}

/** The version of an object that was resolved. */
export interface ObservedObject {
  readonly uid: string;
  readonly generation: number;
}

type Judged<A> = ReadonlyMap<string, E.Either<Failed, A>>;

/** All that follows from the objects alone; on the left what is wrong with each. */
export interface Resolution {
  readonly wanted: Wanted;
  /** Maps the ids of all objects to the versions that were resolved. */
  readonly observed: ReadonlyMap<string, ObservedObject>;
  readonly repositories: Judged<Repository>;
  readonly destinations: Judged<Placed>;
  /** Maps names to the destinations of rules that name a repository directly. */
  readonly implicit: ReadonlyMap<string, Placed>;
  readonly rules: Readonly<Record<"WatchRule" | "ClusterWatchRule", Judged<Writing>>>;
}

/** Maps the ids of destinations and rules to the keys of the branches to which they write. */
export const branchesOf = ({ wanted: { branches }, rules }: Resolution): ReadonlyMap<string, string> => {
  const to = new Map(
    [...branches.values()].flatMap(({ key, destinations }) =>
      destinations.map(({ destination }) => [destination.name, key] as const),
    ),
  );
  const ofRules = (["WatchRule", "ClusterWatchRule"] as const).flatMap((kind) =>
    [...rules[kind]].flatMap(([key, rule]) => {
      const branch = E.isRight(rule) ? to.get(rule.right.destination) : undefined;
      return branch === undefined ? [] : [[objectId(kind, key), branch] as const];
    }),
  );
  return new Map([...[...to].map(([name, branch]) => [objectId("GitDestination", name), branch] as const), ...ofRules]);
};

/** The judgement on a rule; `written`: it may write where it wants to. */
interface Judgement {
  readonly writing: E.Either<Failed, Writing>;
  readonly written: Written | undefined;
}

type RuleSpec = (WatchRule | ClusterWatchRule)["spec"];

const destinationsOf = ({ GitDestination: all, GitRepoConfig: configs }: Decoded, known: Known): Judged<Located> => {
  const locatedOne = (one: GitDestination): E.Either<Failed, Located> =>
    E.flatMap(unlessWrong("GitRepoConfig", referred(one.spec.repoRef, one.metadata.namespace), configs), () =>
      E.flatMap(E.mapLeft(unresolved)(resolveDestination(one, known)), located),
    );
  return new Map([...all].map(([key, one]) => [key, E.flatMap(one, locatedOne)]));
};

/** Judges one rule, by where it wants to write and what it selects. */
const judging =
  (
    { GitRepoConfig: configs }: Decoded,
    destinations: Judged<Located>,
    known: Known,
    findingsOf: (rule: SelectionRule) => readonly string[],
  ) =>
  (
    rule: string,
    namespace: string | undefined,
    { destinationRef, gitRepoConfigRef }: RuleSpec,
    selects: E.Either<string, readonly SelectionRule[]>,
  ): Judgement => {
    const reference =
      destinationRef === undefined
        ? unlessWrong("GitRepoConfig", referred(gitRepoConfigRef ?? { name: "" }, namespace), configs)
        : unlessWrong("GitDestination", referred(destinationRef, namespace), destinations);
    const to = E.flatMap(reference, () =>
      E.flatMap(E.mapLeft(unresolved)(resolveRule({ namespace, destinationRef, gitRepoConfigRef }, known)), located),
    );
    if (E.isLeft(to)) return { writing: to, written: undefined };
    if (E.isLeft(selects))
      return {
        writing: E.left(refused("InvalidSpec", `spec.${selects.left}`)),
        written: { rule, to: to.right, selects: undefined },
      };
    return {
      writing: E.right({
        destination: to.right.destination.name,
        isThroughDestination: destinationRef !== undefined,
        findings: [...new Set(selects.right.flatMap(findingsOf))],
      }),
      written: { rule, to: to.right, selects: selects.right },
    };
  };

/** The selections of a rule, the same ones for the same object, so that a change of one rule has no others listed again. */
const selectedByWatchRule = memoized(({ metadata: { namespace = "" }, spec }: WatchRule) =>
  rulesOfWatchRule(spec, namespace),
);
const selectedByClusterWatchRule = memoized(({ spec }: ClusterWatchRule) => rulesOfClusterWatchRule(spec));

type Judgements = readonly (readonly [key: string, judgement: Judgement])[];

const judgementsOf = <A extends WatchRule | ClusterWatchRule>(
  all: Judged<A>,
  judge: (key: string, rule: A) => Judgement,
): Judgements =>
  [...all].map(([key, one]) => [key, E.isLeft(one) ? { writing: one, written: undefined } : judge(key, one.right)]);

const writingOf = (all: Judgements): Judged<Writing> => new Map(all.map(([key, { writing }]) => [key, writing]));

/** A place, and the claim of its destination. */
interface Claimed {
  readonly at: Located;
  readonly claim: Claim;
}

/** The known rights to push. */
export interface Standings {
  /** The keys of GitRepoConfigs that their servers are known not to let in. */
  readonly refusedConfigs: ReadonlySet<string>;
  /** Maps the names of destinations to the places of their markers, see {@link placeOf}. */
  readonly owned: ReadonlyMap<string, string>;
}

const NOTHING_KNOWN: Standings = { refusedConfigs: new Set(), owned: new Map() };

const claimed = (
  at: Located,
  { creationTimestamp, uid }: GitRepoConfig["metadata"],
  { refusedConfigs, owned }: Standings,
): Claimed => {
  const { name, config, folder } = at.destination;
  const isOwner = owned.get(name) === placeOf(keyOf(at), folder);
  const standing = refusedConfigs.has(configKey(config)) ? "refused" : isOwner ? "owner" : "unknown";
  return {
    at,
    claim: {
      destination: name,
      creationTimestamp,
      uid,
      branch: branchOf(at),
      folder,
      credentials: credentialsOf(at),
      standing,
    },
  };
};

/** Maps names to all destinations: GitDestinations, and those that rules name without one. */
const placesOf = (
  destinations: Judged<Located>,
  known: Known,
  written: readonly Written[],
  standings: Standings,
): ReadonlyMap<string, Claimed> => {
  const explicit = [...destinations].flatMap(([key, at]): readonly (readonly [string, Claimed])[] => {
    const metadata = known.gitDestinations.get(key)?.metadata;
    return E.isRight(at) && metadata !== undefined ? [[key, claimed(at.right, metadata, standings)]] : [];
  });
  const named = written.map(
    ({ to }) => [to.destination.name, claimed(to, to.destination.config.metadata, standings)] as const,
  );
  return new Map([...named, ...explicit]);
};

/** Names a destination for people: GitDestinations have a name without a space, and the others say what they are. */
const shownName = (destination: string): string =>
  destination.includes(" ") ? destination : `GitDestination ${destination}`;

const blockedBy = (owner: string, its: Located | undefined, why: string, { destination, branch }: Located): Failed => {
  const { folder, repository } = destination;
  const by = its?.destination.repository.key === repository.key ? "" : ", by another URL of that repository";
  return refused(
    "OwnershipConflict",
    `${shownName(owner)}, which ${why}, has the same ${folder === "" ? "root" : `folder ${folder}`} of branch ${branch} of ${repository.url}${by}: use another baseFolder or branch, or delete one of the two`,
  );
};

const withoutRules = (name: string, writers: readonly Written[]): string | undefined => {
  if (writers.some(({ selects }) => selects !== undefined)) return undefined;
  const [broken] = writers;
  return broken === undefined
    ? `no rule writes to ${shownName(name)}: create a WatchRule or ClusterWatchRule with a destinationRef to it`
    : `${broken.rule} is not Ready, and no other rule writes to ${shownName(name)}`;
};

const withoutSecrets = ({ ageRecipients }: Located["destination"]): Failed | undefined => {
  const { problem } = secretsOf(new Uint8Array(), ageRecipients);
  return problem === undefined ? undefined : refused("InvalidSpec", `${problem}; until then no Secret is written`);
};

const observedObjects = (objects: Objects): ReadonlyMap<string, ObservedObject> =>
  new Map(
    KINDS.flatMap((kind: Kind) =>
      objects[kind].map((object) => {
        const { uid = "", generation = 0 } = object.metadata;
        return [objectId(kind, objectKey(object)), { uid, generation }] as const;
      }),
    ).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * Resolves the configuration.
 *
 * Guarantees: the result is the same for the same objects, in whatever order; an object that is wrong changes nothing for those
 *             that do not refer to it; nothing is written with credentials that only another's GitRepoConfig names; a folder goes
 *             to a destination that may push before one that is not known to, and last to one that is refused. Never throws.
 */
export const resolved = (
  { objects, namespaceLabels, served, gone, watched }: ClusterState,
  { selection, limits }: JournalSettings,
  standings: Standings = NOTHING_KNOWN,
): Resolution => {
  const decoded = decodedObjects(objects);
  const known: Known = {
    gitRepoConfigs: rightOnes(decoded.GitRepoConfig),
    gitDestinations: rightOnes(decoded.GitDestination),
    namespaceLabels: (namespace) => namespaceLabels.get(namespace) ?? {},
    watched,
  };
  const destinations = destinationsOf(decoded, known);

  const judge = judging(decoded, destinations, known, (rule) => selectionFindings(rule, served, selection));
  const watchRules = judgementsOf(decoded.WatchRule, (key, one) =>
    judge(objectId("WatchRule", key), one.metadata.namespace, one.spec, selectedByWatchRule(one)),
  );
  const clusterWatchRules = judgementsOf(decoded.ClusterWatchRule, (key, one) =>
    judge(objectId("ClusterWatchRule", key), undefined, one.spec, selectedByClusterWatchRule(one)),
  );
  const written = [...watchRules, ...clusterWatchRules].flatMap(([, one]) => one.written ?? []);

  const claims = placesOf(destinations, known, written, standings);
  const who = claimsOf([...claims.values()].map(({ claim }) => claim));
  const places = new Map([...claims].map(([name, { at }]) => [name, at]));
  const rulesTo = Map.groupBy(written, ({ to }) => to.destination.name);
  const branches = journaledBranches({ places, rulesTo, claims: who, served, selection, limits });

  const whyOwner = (owner: string, name: string): string => {
    const [its, own] = [owner, name].map((one) => claims.get(one)?.claim.standing);
    return its === own ? "is older" : own === "refused" ? "its server lets in" : "has its marker there";
  };
  const placed = (at: Located): Placed => {
    const { name } = at.destination;
    const owner = who.conflicts.get(name);
    return {
      ...at,
      config: configKey(at.destination.config),
      blocked: owner === undefined ? undefined : blockedBy(owner, places.get(owner), whyOwner(owner, name), at),
      withoutRules: withoutRules(name, rulesTo.get(name) ?? []),
      withoutSecrets: withoutSecrets(at.destination),
    };
  };

  return {
    wanted: { branches, gone, settings: selection, namespaceLabels },
    observed: observedObjects(objects),
    repositories: new Map([...decoded.GitRepoConfig].map(([key, one]) => [key, E.flatMap(one, repositoryOf)])),
    destinations: new Map([...destinations].map(([key, at]) => [key, E.map(placed)(at)])),
    implicit: new Map([...places].filter(([name]) => !destinations.has(name)).map(([name, at]) => [name, placed(at)])),
    rules: { WatchRule: writingOf(watchRules), ClusterWatchRule: writingOf(clusterWatchRules) },
  };
};
