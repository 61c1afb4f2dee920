// Folds what has happened into what is known of a branch.
import type { Target, Transaction } from "@janus/api";
import { groupOf } from "@janus/api";
import type { Instant } from "@janus/types";
import type { BranchEvent, SeenFile } from "./branch-event.ts";
import type {
  BranchState,
  Comparison,
  DestinationState,
  KnownTransaction,
  ListedResource,
  TargetPlace,
} from "./branch-state.ts";
import { resourceKey } from "./discovery.ts";
import type { FileContent } from "./file-content.ts";
import type { Outcome } from "./git/cycle.ts";
import type { ObjectId } from "./git/object-id.ts";
import { type By, forgotten, type History, recorded, settled, type Touch, UNKNOWN, withoutPushed } from "./history.ts";
import type { JournaledBranch, JournaledDestination } from "./journaled-branch.ts";
import type { KeptObject } from "./kept-object.ts";
import { entriesOf, largeMap, valueAt, withValue } from "./large-map.ts";
import { type BaseFolder, type FilePath, isWithin, layoutOf, nameOf, objectPath, relativeTo } from "./path.ts";
import { rulesAbout, type SelectionRule } from "./selection.ts";
import { deletedBy, journaledTransaction, type JournaledTransaction, type Marks, movedMark } from "./transactions.ts";

const NO_MARKS: Marks = new Map();

const BEGUN: ListedResource["list"] = { is: "begun" };

const compareFrom = (state: BranchState, since: Instant, isUrgent: boolean): BranchState["toCompare"] => ({
  since: Math.min(since, state.toCompare?.since ?? since),
  isUrgent: isUrgent || state.toCompare?.isUrgent === true,
  number: (state.toCompare?.number ?? 0) + 1,
});

const mapped = <K, V>(map: ReadonlyMap<K, V>, key: K, change: (value: V) => V): ReadonlyMap<K, V> => {
  const value = map.get(key);
  return value === undefined ? map : new Map(map).set(key, change(value));
};

/** What is changed in one resource of all destinations that have selected it. */
const inResource = (
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

// What is wanted

const isSameRules = (a: readonly SelectionRule[], b: readonly SelectionRule[]): boolean =>
  a.length === b.length && a.every((rule, n) => rule === b[n]);

const withWanted = (
  former: DestinationState | undefined,
  wanted: JournaledDestination,
  isCompared: boolean,
): DestinationState => {
  const resources = new Map(
    wanted.selected.map((resource): readonly [string, ListedResource] => {
      const key = resourceKey(resource);
      const known = former?.resources.get(key);
      return [
        key,
        known?.version === resource.version
          ? known
          : { version: resource.version, objects: largeMap(), spared: largeMap(), list: BEGUN },
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
      pushed: { commits: 0, files: 0 },
    };
  const dropped = new Set([...former.dropped, ...former.resources.keys()].filter((key) => !resources.has(key)));
  if (isSameRules(former.wanted.rules, wanted.rules)) return { ...former, wanted, resources, dropped };
  const rules = former.wanted.rules.filter((rule) => !wanted.rules.includes(rule));
  return { ...former, wanted, resources, dropped, formerRules: [...(isCompared ? [] : former.formerRules), ...rules] };
};

const isSameDestination = (a: DestinationState | undefined, b: JournaledDestination): boolean =>
  a !== undefined &&
  a.wanted.destination.folder === b.destination.folder &&
  a.wanted.isBlocked === b.isBlocked &&
  a.wanted.deletes === b.deletes &&
  a.wanted.destination.exclusiveMode === b.destination.exclusiveMode &&
  isSameRules(a.wanted.rules, b.rules) &&
  a.wanted.selected.length === b.selected.length &&
  a.wanted.selected.every(({ version }, n) => version === b.selected[n]?.version);

/** Whether the files of something that was selected may go only now. */
const isGoneNow = ({ destinations, gone }: BranchState, now: BranchState["gone"]): boolean =>
  [...destinations.values()].some(({ dropped }) => [...dropped].some((key) => now.has(key) && !gone.has(key)));

const wanted = (
  state: BranchState,
  branch: JournaledBranch,
  { gone, settings }: Pick<BranchState, "gone" | "settings">,
  now: Instant,
): BranchState => {
  const isSame =
    state.destinations.size === branch.destinations.length &&
    branch.destinations.every((one) => isSameDestination(state.destinations.get(one.destination.name), one));
  const isCompared = state.toCompare === undefined;
  // What has changed may be what git or the server has refused.
  const isTried = state.trouble === undefined || isSame;
  return {
    ...state,
    branch,
    gone,
    settings,
    destinations: new Map(
      branch.destinations.map((one) => [
        one.destination.name,
        withWanted(movedTo(state.destinations.get(one.destination.name), one), one, isCompared),
      ]),
    ),
    ...(isSame && !isGoneNow(state, gone) ? {} : { toCompare: compareFrom(state, now, true) }),
    ...(isTried ? {} : { retryAt: now }),
  };
};

/** Of a destination that has another folder now, nothing is true any more. */
const movedTo = (
  former: DestinationState | undefined,
  { destination }: JournaledDestination,
): DestinationState | undefined => (former?.wanted.destination.folder === destination.folder ? former : undefined);

// Objects

/** Who has made this version: the Transaction whose mark has come with it, else who is known by other means. */
const authorOf = (
  state: BranchState,
  path: FilePath,
  before: KeptObject | undefined,
  after: KeptObject | undefined,
  by: By,
): By => {
  const known = [...state.transactions.values()].map(({ transaction }) => transaction);
  const uid =
    after === undefined
      ? before && deletedBy(known, path, before.uid)
      : movedMark(before?.uid === after.uid ? before.marks : NO_MARKS, after.marks);
  return uid === undefined ? by : { type: "transaction", uid };
};

const versionOf = (object: KeptObject | undefined): Touch["version"] =>
  object && { fingerprint: object.fingerprint, bytes: object.bytes };

const withFile = (listed: ListedResource, { path, ingested }: SeenFile): ListedResource => ({
  ...listed,
  objects: withValue(listed.objects, path, ingested.type === "kept" ? ingested.object : undefined),
  spared: withValue(listed.spared, path, ingested.type === "spared" ? { because: ingested.because } : undefined),
});

/** With the touch of a change; before it, with what the file may not say yet. */
const touched = (
  state: BranchState,
  path: FilePath,
  before: KeptObject | undefined,
  after: KeptObject | undefined,
  by: By,
  now: Instant,
): History => {
  const operations = after?.operations ?? before?.operations ?? new Set();
  const isFirst = !state.history.touches.some((touch) => touch.path === path);
  const earlier =
    isFirst && before !== undefined && state.toCompare !== undefined
      ? recorded(state.history, {
          path,
          version: versionOf(before),
          operations: before.operations,
          by: UNKNOWN,
          at: now,
        })
      : state.history;
  return recorded(earlier, { path, version: versionOf(after), operations, by, at: now });
};

/** What a file of ours says, which then need not be read; undefined where the name cannot be told from the path. */
const contentAt = (folder: BaseFolder, path: FilePath, { fingerprint }: KeptObject): FileContent | undefined => {
  const relative = relativeTo(folder, path);
  const layout = layoutOf(relative);
  const name = nameOf(relative);
  if (layout === undefined || name === undefined) return undefined;
  const { group, version, namespace } = layout;
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    fingerprint,
  };
};

const seen = (state: BranchState, file: SeenFile, by: By, now: Instant): BranchState => {
  const { destination, resource, path, ingested } = file;
  const one = state.destinations.get(destination);
  const listed = one?.resources.get(resource);
  if (one === undefined || listed === undefined) return state;
  const before = valueAt(listed.objects, path);
  const after = ingested.type === "kept" ? ingested.object : undefined;
  const next = {
    ...state,
    destinations: mapped(state.destinations, destination, (one) => ({
      ...one,
      resources: mapped(one.resources, resource, (known) => withFile(known, file)),
    })),
  };
  if (before?.fingerprint === after?.fingerprint) return next;
  const said = before && contentAt(one.wanted.destination.folder, path, before);
  const history = touched(state, path, before, after, authorOf(state, path, before, after, by), now);
  const isLost = history.touches.length < state.history.touches.length;
  return {
    ...next,
    history,
    ...(before?.blob === undefined || said === undefined
      ? {}
      : { blobs: withValue(state.blobs, before.blob, { content: said, marker: undefined }) }),
    ...(isLost ? { toCompare: compareFrom(state, now, false) } : {}),
  };
};

/** A whole new list: what it does not have is gone. Of what has changed meanwhile nobody knows who it was. */
const listed = (
  state: BranchState,
  { resource, version, files }: Extract<BranchEvent, { readonly type: "listed" }>,
  now: Instant,
): BranchState => {
  const byDestination = Map.groupBy(files, ({ destination }) => destination);
  let history = state.history;
  const next = inResource(state, resource, (known, destination) => {
    if (known.version !== version) return known;
    const own = byDestination.get(destination) ?? [];
    const objects = new Map(
      own.flatMap(({ path, ingested }) => (ingested.type === "kept" ? [[path, ingested.object] as const] : [])),
    );
    const spared = new Map(
      own.flatMap(({ path, ingested }) =>
        ingested.type === "spared" ? [[path, { because: ingested.because }] as const] : [],
      ),
    );
    for (const [path, before] of entriesOf(known.objects)) {
      const after = objects.get(path);
      if (before.fingerprint === after?.fingerprint) continue;
      const by = authorOf(state, path, before, after, UNKNOWN);
      history = touched({ ...state, history }, path, before, after, by, now);
    }
    return { version, objects: largeMap(objects), spared: largeMap(spared), list: { is: "complete" } };
  });
  return { ...next, history, toCompare: compareFrom(state, now, true) };
};

// Transactions

const placeOf = (
  { destinations, settings }: BranchState,
  { apiVersion, kind, name, namespace }: Target,
): readonly (TargetPlace & { readonly path: FilePath })[] =>
  [...destinations.values()].flatMap(({ wanted: { destination, selected, rules } }) =>
    selected
      .filter((one) => one.kind === kind && one.group === groupOf(apiVersion))
      .flatMap((resource) => {
        const place = resource.namespaced && namespace !== undefined ? { namespace } : {};
        if (rulesAbout(rules, { ...resource, ...place }, settings).length === 0) return [];
        const { group, version, plural } = resource;
        const path = objectPath(destination.folder, { group, version, resource: plural, ...place, name });
        return [{ destination: destination.name, resource, ...place, name, path }];
      }),
  );

const known = (state: BranchState, transaction: Transaction, now: Instant): BranchState => {
  const places = new Map<FilePath, TargetPlace>();
  // An object may have a file in several destinations of the branch.
  const parts = [...state.destinations.keys()].map((name) =>
    journaledTransaction(transaction, (target) => {
      const place = placeOf(state, target).find(({ destination }) => destination === name);
      if (place !== undefined) places.set(place.path, place);
      return place?.path;
    }),
  );
  const [first] = parts;
  if (first === undefined) return state;
  const journaled: JournaledTransaction = { ...first, targets: parts.flatMap(({ targets }) => targets) };
  const before = state.transactions.get(journaled.uid);
  if (journaled.targets.length === 0 && before === undefined) return state;
  const isSamePhase = before?.transaction.phase === journaled.phase;
  const isTerminal = ["Committed", "RolledBack", "Failed"].includes(journaled.phase);
  const next: KnownTransaction = {
    transaction: journaled,
    places,
    evidence: isSamePhase && before !== undefined ? before.evidence : { since: now, shown: new Set(), isGone: false },
    // What has ended before the objects are listed holds nothing: the list has all of it.
    isDone: isSamePhase && before !== undefined ? before.isDone : isTerminal && !state.areTransactionsKnown,
  };
  return { ...state, transactions: new Map(state.transactions).set(journaled.uid, next) };
};

/** It is gone: what it has changed is committed now, whatever was seen of it. */
const withoutTransaction = (state: BranchState, uid: string): BranchState => {
  const transactions = new Map(state.transactions);
  const one = transactions.get(uid);
  if (one === undefined) return state;
  if (one.isDone) transactions.delete(uid);
  else transactions.set(uid, { ...one, evidence: { ...one.evidence, isGone: true } });
  return { ...state, transactions };
};

const targetRead = (state: BranchState, uid: string, file: SeenFile, now: Instant): BranchState => {
  const next = seen(state, file, UNKNOWN, now);
  return {
    ...next,
    transactions: mapped(next.transactions, uid, (one) => ({
      ...one,
      evidence: { ...one.evidence, shown: new Set([...one.evidence.shown, file.path]) },
    })),
  };
};

// Git

/** Of commits that are in the branch: nobody has a part any more in what differs from them. */
const landed = (state: BranchState, head: ObjectId | undefined): BranchState => {
  const commits = head === undefined ? undefined : state.made.get(head);
  if (head === undefined || commits === undefined) return state;
  const history = withoutPushed(
    state.history,
    commits.flatMap(({ files }) => files),
  );
  const made = new Map(state.made);
  made.delete(head);
  const uids = new Set(commits.flatMap(({ by }) => (by.type === "transaction" ? [by.uid] : [])));
  return {
    ...state,
    history,
    made,
    transactions: new Map(
      [...state.transactions].map(([uid, one]) => [uid, uids.has(uid) ? { ...one, isDone: true } : one]),
    ),
  };
};

/** Those whose commits were due, and that had nothing to commit, are done, too. */
const withDone = (state: BranchState, due: Comparison["due"]): BranchState["transactions"] =>
  new Map(
    [...state.transactions].flatMap(([uid, one]) => {
      if (due.get(uid) !== one.transaction.phase) return [[uid, one] as const];
      return one.evidence.isGone ? [] : [[uid, { ...one, isDone: true }] as const];
    }),
  );

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

const failed = (state: BranchState, trouble: NonNullable<BranchState["trouble"]>, now: Instant): BranchState => {
  const failures = state.failures + 1;
  const { comparison } = state;
  const unpushed = comparison?.commits.reduce((sum, { files }) => sum + files.length, 0) ?? 0;
  return {
    ...state,
    comparison: comparison && { ...comparison, commits: [], left: comparison.left + unpushed },
    trouble,
    failures,
    retryAt: now + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 10)),
    toCompare: compareFrom(state, now, true),
    fetchedAt: undefined,
  };
};

const pushedTo = (
  destinations: BranchState["destinations"],
  { commits: ids }: Extract<Outcome, { readonly is: "pushed" }>,
  planned: readonly { readonly files: readonly { readonly path: FilePath }[] }[],
  now: Instant,
): BranchState["destinations"] =>
  new Map(
    [...destinations].map(([name, one]) => {
      const { folder } = one.wanted.destination;
      const own = planned.map(({ files }) => files.filter(({ path }) => isWithin(folder, path)).length);
      const last = ids[own.findLastIndex((files) => files > 0)];
      if (last === undefined) return [name, one];
      const pushed = {
        commits: one.pushed.commits + own.filter((files) => files > 0).length,
        files: one.pushed.files + own.reduce((sum, files) => sum + files, 0),
      };
      return [name, { ...one, lastCommit: last, lastPush: now, pushed }];
    }),
  );

const ended = (
  state: BranchState,
  { outcomes, isFresh }: Extract<BranchEvent, { readonly type: "ended" }>,
  now: Instant,
): BranchState => {
  const outcome = outcomes.at(-1);
  if (outcome === undefined) return state;
  const found = landed(state, outcome.landed);
  if (outcome.is === "failed") return failed(found, outcome.trouble, now);
  const { comparison } = found;
  const pushed = outcome.is === "pushed" ? landed(found, outcome.commits.at(-1)) : found;
  const isAll = comparison?.isAll === true;
  const isLater = (pushed.toCompare?.number ?? 0) > (comparison?.number ?? 0);
  const next: BranchState = {
    ...pushed,
    destinations:
      outcome.is === "pushed"
        ? pushedTo(pushed.destinations, outcome, comparison?.commits ?? [], now)
        : pushed.destinations,
    trouble: undefined,
    failures: 0,
    retryAt: 0,
    fetchedAt: isFresh || outcome.replays > 0 || pushed.fetchedAt === undefined ? now : pushed.fetchedAt,
    toCompare: isAll ? (isLater ? pushed.toCompare : undefined) : compareFrom(pushed, now, true),
  };
  if (!isAll || comparison === undefined) return next;
  return {
    ...next,
    transactions: withDone(next, comparison.due),
    history: settled(next.history, comparison.upTo, (path) => comparison.held.has(path)),
    hasSettled: true,
    idleSince: now,
  };
};

/**
 * What is known after an event.
 *
 * Guarantees: pure and total; an object that a failed list does not have is not taken for one that is gone.
 */
export const afterEvent = (state: BranchState, event: BranchEvent, now: Instant): BranchState => {
  switch (event.type) {
    case "wanted":
      return wanted(state, event.branch, event, now);
    case "listing":
      return inResource(state, event.resource, (one) =>
        one.version === event.version ? { ...one, list: BEGUN } : one,
      );
    case "listed":
      return listed(state, event, now);
    case "complete":
      return {
        ...inResource(state, event.resource, (one) => ({ ...one, list: { is: "complete" } })),
        toCompare: compareFrom(state, now, false),
      };
    case "listFailed":
      return inResource(state, event.resource, (one) => ({
        ...one,
        list: { is: "failed", because: event.because },
      }));
    case "seen":
      return seen(state, event.file, event.by, now);
    case "transaction":
      return known(state, event.transaction, now);
    case "transactionGone":
      return withoutTransaction(state, event.uid);
    case "transactionsKnown":
      return { ...state, areTransactionsKnown: true };
    case "targetRead":
      return targetRead(state, event.uid, event.file, now);
    case "lease":
      return {
        ...state,
        lease: event.is,
        idleSince: undefined,
        ...(event.is === "held" ? { fetchedAt: undefined } : {}),
      };
    case "landed":
      return landed(state, event.head);
    case "compared": {
      const { comparison } = event;
      return {
        ...state,
        comparison,
        blobs: largeMap(comparison.blobs),
        format: comparison.format,
        destinations: new Map(
          [...state.destinations].map(([name, one]) => [
            name,
            { ...one, ownership: comparison.ownership.get(name) ?? one.ownership },
          ]),
        ),
      };
    }
    case "made":
      return { ...state, made: new Map([...state.made].slice(-1)).set(event.head, event.commits) };
    case "loaded": {
      const history = [...event.lost].reduce(forgotten, state.history);
      const { comparison } = state;
      return {
        ...state,
        history,
        comparison: comparison && { ...comparison, missing: new Map() },
        toCompare: compareFrom(state, now, true),
      };
    }
    case "ended":
      return ended(state, event, now);
    case "troubled":
      return failed(state, { reason: event.reason, message: event.message, lasts: event.lasts }, now);
  }
};
