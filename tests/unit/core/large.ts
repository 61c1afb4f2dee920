import { type Change, fieldManager, type Phase, MAX_DEPTH } from "@janus/api";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import { differingItems, withServerMutations } from "../../../packages/controller/src/core/merge/server-mutations.ts";
import { overwrittenFields } from "../../../packages/controller/src/core/merge/overwritten-fields.ts";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { dryRunResult } from "../../../packages/controller/src/core/preflight/dry-run-result.ts";
import type { ResolvedItem } from "../../../packages/controller/src/core/state/resolved-changes.ts";
import type { Position } from "../../../packages/controller/src/core/state/journal.ts";
import { type Observations, withPreflight } from "../../../packages/controller/src/core/state/observations.ts";
import { asObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { author, place } from "./thing.ts";
import { UID } from "./transaction.ts";
import { allowed, former, observing, observingAll, seen, tried, underway } from "./underway.ts";
import type { Owned } from "../../../packages/controller/src/core/state/listings.ts";

/** A decision on something large: everything is built before, so that running it does nothing but decide. */
export type Decision = () => unknown;

const deciding =
  (context: ReconcileContext): Decision =>
  () =>
    decide(context);

const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);

/** As long as a name may be: it is hashed for its lock. */
const nameOf = (index: number): string => `${"target-".repeat(34)}${index}`;

const changeOf = (type: Change["type"], index: number, content: JsonObject = { data: { a: "new" } }): Change => {
  const target = { apiVersion: "v1", kind: "ConfigMap", name: nameOf(index) };
  return type === "Delete" ? { type, target } : { type, target, content };
};

const changes = (count: number, type: Change["type"] = "Patch"): readonly Change[] =>
  range(count).map((index) => changeOf(type, index));

/** Everything is read and examined. */
const examined = (
  all: readonly Change[],
  live: (change: Change) => KubeObject,
  known: Partial<Observations> = {},
): ReconcileContext =>
  observingAll(underway("Preparing", all, start, { serviceAccount: "there", ...known }), (change) => {
    const target = seen(live(change));
    return {
      preflight: { permissions: allowed("create", "update", "patch", "delete"), trial: tried(target) },
      target,
    };
  });

/** The last of these many changes is not examined yet. */
const untilLast = (count: number): ReconcileContext => {
  const { known, ...rest } = examined(changes(count), there);
  return { ...rest, known: withPreflight(known, count - 1, { trial: undefined }) };
};

const there = ({ target: { kind, name } }: Change): KubeObject => former(kind, name);
const start: Position = { direction: "forward", cursor: 0 };

const unlocked = (context: ReconcileContext): ReconcileContext => observingAll(context, () => ({ lock: undefined }));

const uidOf = (index: number): string => `uid-of-${nameOf(index)}`;
const owned = (index: number, ...owners: readonly string[]): Owned => ({
  kind: "Pod",
  namespace: "shop",
  name: `owned-${index}`,
  uid: `owned-${index}`,
  owners,
});

/** Ways in which `objects` objects may hang on `count` deletions: each of them the worst for somebody who walks them in another way. */
const SHAPES: Readonly<Record<string, (count: number, objects: number) => readonly Owned[]>> = {
  "many of each": (count, objects) => range(objects).map((index) => owned(index, uidOf(index % count))),
  "one below the other": (_, objects) =>
    range(objects)
      .map((index) => owned(index, index === 0 ? uidOf(0) : `owned-${index - 1}`))
      .toReversed(),
  "one below the other, all of all": (count, objects) =>
    range(objects).map((index) =>
      index === 0 ? owned(0, ...range(count).map(uidOf)) : owned(index, `owned-${index - 1}`),
    ),
  woven: (count, objects) =>
    range(objects).map((index) =>
      owned(index, uidOf(index % count), index === 0 ? uidOf(1) : `owned-${(index * 7919) % index}`),
    ),
};

/** Half of the changes delete owners, and the others are of what is owned. */
const preparing = (count: number, found: readonly Owned[]): ReconcileContext => {
  const all = range(count).map((index) => changeOf(index % 2 === 0 ? "Delete" : "Patch", index));
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "elsewhere", uid: "elsewhere" };
  const live = (change: Change): KubeObject =>
    former(change.target.kind, change.target.name, { metadata: { ownerReferences: [owner] } });
  return examined(all, live, { owned: new Map([["shop", found]]) });
};

/** The first of these many changes is on its way, or back: with an answer that leaves its fate open. */
const underWay = (phase: Phase, count: number, type: Change["type"], position: Position): ReconcileContext => {
  const all = changes(count, type);
  return observing(
    observingAll(underway(phase, all, position), (change) => ({ target: seen(there(change)) })),
    { [position.cursor]: { forward: { write: { type: "unanswered", sent: NOW - 1000 } } } },
  );
};

const allMade = (count: number): Position => ({ direction: "forward", cursor: count });
const goingBack = (count: number): Position => ({ direction: "back", cursor: count - 1, reached: count, since: NOW });

/** Decisions in each phase, on so many changes and objects that these own. */
export const phases: Readonly<Record<string, (count: number, objects: number) => Decision>> = {
  Pending: (count) => {
    const { known, txn, ...rest } = underway("Preparing", changes(count), start);
    const { journal: _, ...anew } = known;
    return deciding({
      ...rest,
      txn: { ...txn, metadata: { ...txn.metadata, finalizers: [] }, status: { ...txn.status, phase: "Pending" } },
      known: anew,
    });
  },
  "Preparing, asking for rights": (count) => {
    const { known, ...rest } = unlocked(underway("Preparing", changes(count), start));
    return deciding({ ...rest, known: { ...known, serviceAccount: "there" } });
  },
  "Preparing, taking locks": (count) => deciding(unlocked(examined(changes(count), there))),
  "Preparing, where the last lock is somebody's": (count) =>
    deciding(observing(examined(changes(count), there), { [count - 1]: { lock: { type: "taken" } } })),
  "Preparing, examining the last": (count) => deciding(untilLast(count)),
  ...Object.fromEntries(
    Object.entries(SHAPES).map(([shape, found]) => [
      `Preparing, with owned objects, ${shape}`,
      (count: number, objects: number) => deciding(preparing(count, found(count / 2, objects))),
    ]),
  ),
  Prepared: (count) => deciding(underway("Prepared", changes(count), start)),
  "Committing, the last change": (count) =>
    deciding(underWay("Committing", count, "Patch", { direction: "forward", cursor: count - 1 })),
  "Committing, a Delete in doubt": (count) =>
    deciding(underWay("Committing", count, "Delete", { direction: "forward", cursor: count - 1 })),
  "Committing, all made": (count) => deciding(underWay("Committing", count, "Patch", allMade(count))),
  "RollingBack, a Patch": (count) => deciding(underWay("RollingBack", count, "Patch", goingBack(count))),
  "RollingBack, a Delete": (count) => deciding(underWay("RollingBack", count, "Delete", goingBack(count))),
  "RollingBack, all undone": (count) =>
    deciding(underWay("RollingBack", count, "Patch", { ...goingBack(count), cursor: -1 })),
  Committed: (count) => deciding(underWay("Committed", count, "Patch", allMade(count))),
};

const result = (step: ReturnType<typeof decide>): string =>
  step.type === "run"
    ? step.effects
        .map(({ purpose }) => purpose)
        .slice(0, 3)
        .join()
    : step.type;

/** What a decision is, in a word or two: that it is the one that was meant. */
export const shown = (decision: Decision): string => result(decision() as ReturnType<typeof decide>);

/** An object of before, what the change made of it, and its content. */
interface Wide {
  readonly before: Partial<KubeObject>;
  readonly live: Partial<KubeObject>;
  readonly content: JsonObject;
}

type Entry = NonNullable<KubeObject["metadata"]["managedFields"]>[number];
const entry = (manager: string, fieldsV1: JsonObject, operation: "Apply" | "Update" = "Apply"): Entry => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsV1,
});
const ours = fieldManager({ name: "deploy-v2", uid: UID });

const byNumber = (count: number, value: (index: number) => readonly [string, Json]): JsonObject =>
  Object.fromEntries(range(count).map(value));

/** A list of so many items by their keys, all of which the change has changed, and all of which had another owner. */
const keyed = (
  count: number,
  keyOf: (index: number) => JsonObject,
  content: (key: JsonObject) => JsonObject = (key) => key,
): Wide => {
  const list = (value: string, of = (key: JsonObject) => key): JsonObject => ({
    spec: { list: range(count).map((index) => ({ ...of(keyOf(index)), value })) },
  });
  const owned = byNumber(count, (index) => [
    `k:${JSON.stringify(keyOf(index))}`,
    { ".": {}, "f:value": {}, ...keysOwned(keyOf(index)) },
  ]);
  const fields = { "f:spec": { "f:list": owned } };
  return {
    before: { ...list("old"), metadata: { managedFields: [entry("gitops", fields)] } },
    live: { ...list("new"), metadata: { managedFields: [entry(ours, fields)] } },
    content: list("new", content),
  };
};

const keysOwned = (key: JsonObject): JsonObject =>
  Object.fromEntries(Object.keys(key).map((name) => [`f:${name}`, {}] as const));

const reference = (index: number) => ({ apiVersion: "v1", kind: "Pod", name: `owner-${index}`, uid: `owner-${index}` });

/** Objects of so many parts, each of which the change has changed. */
const wide: Readonly<Record<string, (count: number) => Wide>> = {
  "a map": (count) => {
    const data = (value: string): JsonObject => ({ data: byNumber(count, (index) => [`key-${index}`, value]) });
    const owned = { "f:data": byNumber(count, (index) => [`f:key-${index}`, {}]) };
    return {
      before: { ...data("old"), metadata: { managedFields: [entry("gitops", owned)] } },
      live: { ...data("new"), metadata: { managedFields: [entry(ours, owned)] } },
      content: data("new"),
    };
  },
  "a list by name": (count) => keyed(count, (index) => ({ name: `VARIABLE_${index}` })),
  "a list by two keys, one of them left out": (count) =>
    keyed(
      count,
      (index) => ({ port: index, protocol: "TCP" }),
      ({ port = 0 }) => ({ port }),
    ),
  "a list by two keys, the one left out that tells": (count) =>
    keyed(
      count,
      (index) => ({ port: index, protocol: "TCP" }),
      ({ protocol = "" }) => ({ protocol }),
    ),
  "a set": (count) => {
    const finalizers = (value: string) => range(count).map((index) => `${value}.io/${index}`);
    const owned = (value: string) => ({
      "f:metadata": {
        "f:finalizers": Object.fromEntries(finalizers(value).map((one) => [`v:${JSON.stringify(one)}`, {}])),
      },
    });
    const object = (value: string, by: string) => ({
      metadata: { finalizers: finalizers(value), managedFields: [entry(by, owned(value), "Update")] },
    });
    const { metadata } = object("new", "");
    return {
      before: object("old", "gitops"),
      live: object("new", ours),
      content: { metadata: { finalizers: metadata.finalizers } },
    };
  },
  "owner references": (count) => {
    const ownerReferences = range(count).map(reference);
    const owned = {
      "f:metadata": { "f:ownerReferences": byNumber(count, (index) => [`k:{"uid":"owner-${index}"}`, {}]) },
    };
    return {
      before: { metadata: { ownerReferences, managedFields: [entry("gitops", owned)] } },
      live: {
        data: { a: "new" },
        metadata: {
          ownerReferences,
          managedFields: [entry("gitops", owned), entry(ours, { "f:data": { "f:a": {} } })],
        },
      },
      content: { data: { a: "new" } },
    };
  },
  "a map far below": (count) => farBelow(count),
  "fields of one manager each": (count) => {
    const data = (value: string): JsonObject => ({ data: byNumber(count, (index) => [`key-${index}`, value]) });
    const managedFields = range(count).map((index) =>
      entry(`manager-${index}`, { "f:data": { [`f:key-${index}`]: {} } }),
    );
    const owned = { "f:data": byNumber(count, (index) => [`f:key-${index}`, {}]) };
    return {
      before: { ...data("old"), metadata: { managedFields } },
      live: { ...data("new"), metadata: { managedFields: [...managedFields.slice(0, count / 2), entry(ours, owned)] } },
      content: data("new"),
    };
  },
};

/** A few levels less than Janus handles: the object is nested in others. */
const MOST_LEVELS = MAX_DEPTH - 10;

/** A map of so many fields, as far below as may be: what goes through it once for each level does so too often. */
const farBelow = (count: number, manager = ours): Wide => {
  const below = (name: string, inner: JsonObject): JsonObject =>
    range(Math.min(count, MOST_LEVELS)).reduce<JsonObject>((object) => ({ [name]: object }), inner);
  // The last field is another one, too: it is not soon found out that two differ.
  const data = (value: string): JsonObject => ({
    data: below("level", { ...byNumber(count, (index) => [`key-${index}`, "same"]), last: value }),
  });
  const owned = {
    "f:data": below("f:level", { ...byNumber(count, (index) => [`f:key-${index}`, {}]), "f:last": {} }),
  };
  return {
    before: { ...data("old"), metadata: { managedFields: [entry("gitops", owned)] } },
    live: { ...data("new"), metadata: { managedFields: [entry(manager, owned)] } },
    content: data("new"),
  };
};

/** All fields far below have another value than the one before, and none is ours. */
const takenOver = (count: number): Wide => {
  const { live, ...rest } = farBelow(count, "other");
  const replaced = JSON.parse(JSON.stringify(live).replaceAll('"same"', '"other"')) as Partial<KubeObject>;
  return { ...rest, live: replaced, content: { data: asObject(replaced["data"]) } };
};

/** How many parts make an object of about 1 MiB, its managedFields included. */
export const PARTS = 8000;

const target = { apiVersion: "v1", kind: "Thing", name: "thing" };

const undoing = ({ before, live, content }: Wide): ReconcileContext => {
  const change: Change = { type: "Patch", target, content };
  const object = former("Thing", "thing", live);
  return observing(underway("RollingBack", [change], goingBack(1)), {
    0: {
      before: former("Thing", "thing", before),
      target: seen({ ...object, metadata: { ...object.metadata, resourceVersion: "2" } }),
    },
  });
};

/** A Patch that was not answered, and of which another client has set all fields, each of them otherwise. */
const inDoubt = ({ before, live, content: ofLive }: Wide): ReconcileContext => {
  const content = JSON.parse(JSON.stringify(ofLive).replaceAll('"new', '"newer')) as JsonObject;
  const change: Change = { type: "Patch", target: { apiVersion: "v1", kind: "Thing", name: "thing" }, content };
  const { metadata, ...object } = former("Thing", "thing", live);
  const managedFields = (metadata.managedFields ?? []).map((entry) =>
    entry.manager === ours ? { ...entry, manager: "person" } : entry,
  );
  return observing(underway("Committing", [change], start), {
    0: {
      before: former("Thing", "thing", before),
      target: seen({ ...object, metadata: { ...metadata, managedFields, resourceVersion: "2" } }),
      forward: { write: { type: "unanswered", sent: NOW - 1000 } },
    },
  });
};

/** Decisions on one object of so many parts: how it is rolled back, and whether a change of it may have been applied. */
export const restorations: Readonly<Record<string, (count: number) => Decision>> = Object.fromEntries(
  Object.entries(wide).flatMap(([name, build]) => [
    [name, (count: number) => deciding(undoing(build(count)))] as const,
    [`in doubt: ${name}`, (count: number) => deciding(inDoubt(build(count)))] as const,
  ]),
);

const item = (content: JsonObject): ResolvedItem => ({ index: 0, change: { type: "Patch", target, content }, place });

/** What is found out of one object outside of decisions, of so many parts. */
export const examinations: Readonly<Record<string, (count: number) => Decision>> = Object.fromEntries(
  [farBelow, takenOver].flatMap((build) => {
    const of = (examine: (before: KubeObject, live: KubeObject, content: JsonObject) => unknown) => (count: number) => {
      const { before, live, content } = build(4 * count);
      const [was, is] = [former("Thing", "thing", before), former("Thing", "thing", live)];
      return () => examine(was, is, content);
    };
    return [
      [`the render, ${build.name}`, of((before, live, content) => dryRunResult(item(content), before, live, false))],
      [
        `what the API server has changed, ${build.name}`,
        of((before, live) => withServerMutations(before, before, live, place)),
      ],
      [
        `its rollback, ${build.name}`,
        of((before, live, content) => restoration(item(content).change, place, before, live, author)),
      ],
      [
        `what a change would overwrite, ${build.name}`,
        of((before, live) => overwrittenFields(item(before as unknown as JsonObject).change, place, before, live)),
      ],
      [`what was not restored, ${build.name}`, of((before, live) => differingItems(before, live).length)],
    ] as const;
  }),
);
