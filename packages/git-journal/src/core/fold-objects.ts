// Folds objects that were seen, and whole lists of them, into the state of a branch.
import type { Instant } from "@janus/types";
import { compareFrom, inResource, mapped } from "./branch-changes.ts";
import type { BranchEvent, SeenFile } from "./branch-event.ts";
import type { BranchState, ListedResource } from "./branch-state.ts";
import { changedBy } from "./credit.ts";
import { resourceKey } from "./discovery.ts";
import type { FileContent } from "./file-content.ts";
import { type By, type History, recorded, type Touch, UNKNOWN } from "./history.ts";
import type { KeptObject } from "./kept-object.ts";
import { entriesOf, largeMap, valueAt, withValue } from "./large-map.ts";
import { type BaseFolder, type FilePath, layoutOf, nameOf, relativeTo } from "./path.ts";
import { deletedBy, type Marks, movedMarks } from "./transactions.ts";

const NO_MARKS: Marks = new Map();

/** Finds the author of a version: the Transaction whose mark has come with it, else `by`. */
const authorOf = (
  state: BranchState,
  path: FilePath,
  before: KeptObject | undefined,
  after: KeptObject | undefined,
  by: By,
): By => {
  const known = [...state.transactions.values()].flatMap(({ transaction, isDone }) => (isDone ? [] : [transaction]));
  const uid =
    after === undefined
      ? before && deletedBy(known, path, before.uid)
      : changedBy(state, path, movedMarks(before?.uid === after.uid ? before.marks : NO_MARKS, after.marks));
  return uid === undefined ? by : { type: "transaction", uid };
};

const versionOf = (object: KeptObject | undefined): Touch["version"] =>
  object && { fingerprint: object.fingerprint, bytes: object.bytes };

const withFile = (listed: ListedResource, { path, ingested }: SeenFile): ListedResource => ({
  ...listed,
  objects: withValue(listed.objects, path, ingested.type === "kept" ? ingested.object : undefined),
  spared: withValue(listed.spared, path, ingested.type === "spared" ? { because: ingested.because } : undefined),
});

/** Adds the touch of a change, and before it the former version, which the file may not say yet. */
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

/** The content of a file of ours, which then need not be read; undefined if the path does not tell the name. */
const contentAt = (
  folder: BaseFolder,
  path: FilePath,
  kind: string,
  { fingerprint }: KeptObject,
): FileContent | undefined => {
  const relative = relativeTo(folder, path);
  const layout = layoutOf(relative);
  const name = nameOf(relative);
  if (layout === undefined || name === undefined) return undefined;
  const { group, version, namespace } = layout;
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    fingerprint,
  };
};

export const seen = (state: BranchState, file: SeenFile, by: By, now: Instant): BranchState => {
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
  const { kind = "" } = one.wanted.selected.find((each) => resourceKey(each) === resource) ?? {};
  const said = before && contentAt(one.wanted.destination.folder, path, kind, before);
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

/** Takes a whole new list: objects that it lacks are gone. The authors of changes since the last one are not known. */
export const listed = (
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
    return { ...known, objects: largeMap(objects), spared: largeMap(spared), list: { is: "complete" } };
  });
  return { ...next, history, toCompare: compareFrom(state, now, true) };
};
